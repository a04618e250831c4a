"""What the sketch *Live* of a library needs to know about the sensor that it reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from protonn_edge.codegen.plan import Plan
from protonn_edge.data.naming import Notice
from protonn_edge.model.integer_chain import IntegerChain


@dataclass(frozen=True)
class SensorWindows(ABC):
    """Windows of a sensor's samples that a board forms for a model."""

    model: IntegerChain  # converts the sensor's counts
    notices: tuple[Notice, ...] = field(default=(), kw_only=True)  # conversions and assumptions

    @property
    @abstractmethod
    def words(self) -> str:
        """A description for display."""

    @property
    @abstractmethod
    def window(self) -> int:
        """Samples per window."""

    @property
    @abstractmethod
    def n_channels(self) -> int:
        """Values per sample."""

    @property
    @abstractmethod
    def overlapping(self) -> bool:
        """Whether a window begins before the end of the previous one."""

    @property
    @abstractmethod
    def on_any_chip(self) -> bool:
        """Whether the sketch polls the sensor, instead of reading it in interrupts of an AVR."""

    @property
    @abstractmethod
    def leaves_pins(self) -> bool:
        """Whether the sensor leaves pins for LED and buttons."""

    @abstractmethod
    def ring_samples(self, load: Plan) -> int:
        """Return the samples that the buffer must hold; `CheckFailed` if it cannot keep up."""

    @abstractmethod
    def context(self, ring_samples: int) -> dict[str, object]:
        """Return all that the templates of the sketch need."""
