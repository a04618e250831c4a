"""Instruments beside a board, such as power meters, and the only place that finds them.

An instrument watches the first board of a run while this board repeats a prediction, and returns a
reading. All instruments are in `device/meters`, which may be removed: nothing else refers to it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import ArrayLike

from protonn_edge.chips.boards import Board
from protonn_edge.device.connection import Host
from protonn_edge.device.session import Prediction, Session
from protonn_edge.system.lazy import room

NONE = "none"
"""The name of no instrument."""

WRITTEN_BY = "'hil --meter METER --json'"
"""The command that writes a reading."""


class BenchReading(Protocol):
    """What an instrument measured: a frozen dataclass of numbers, texts and tuples of numbers."""

    @property
    def repetitions(self) -> int:
        """Predictions in the batch that was watched."""

    @property
    def trace_ms(self) -> tuple[float, ...]:
        """Times around the batch, from its beginning, in milliseconds."""

    @property
    def trace_mw(self) -> tuple[float, ...]:
        """The power at these times, in milliwatts."""

    @property
    def caption(self) -> str:
        """A sentence below the trace."""

    @property
    def title(self) -> str:
        """The heading of a table of the facts."""

    def facts(self, latency_ms: float) -> list[tuple[str, str]]:
        """Return names and texts of what was measured, for a prediction of this latency."""

    def to_json(self, latency_ms: float) -> dict[str, Any]:
        """Return the fields, and figures for a prediction of this latency."""


@dataclass(frozen=True)
class BenchInstrument:
    """An instrument for one run.

    `watch` takes a session, quantized features, the board, the number of repetitions or None, and
    the host or None; it returns the reading, and the prediction with the cycles of all repetitions.
    Both members raise `InstrumentError` if the instrument is at fault.
    """

    opened: AbstractContextManager[Any]  # has to be entered before `watch`
    watch: Callable[
        [Session, ArrayLike, Board, int | None, Host | None], tuple[BenchReading, Prediction]
    ]


def instrument_of(text: str, volts: float | None = None) -> BenchInstrument | None:
    """Return the instrument that a text such as ``ppk2:/dev/ttyACM1`` names; None for ``none``.

    `volts` is the board's supply, for an instrument that does not measure it. Raises `InputError`
    if there is no such instrument, or its port or the voltage is missing.
    """
    if text == NONE:
        return None
    found: BenchInstrument = meters().instrument_of(text, volts)
    return found


def reading_type() -> Any:
    """Return the class of readings; `InputError` if no instruments are installed."""
    return meters().MeteredPower


def meters() -> Any:
    """Return the package of the power meters; `InputError` if they are not installed."""
    return room("protonn_edge.extensions.lab.meters", "the meters")
