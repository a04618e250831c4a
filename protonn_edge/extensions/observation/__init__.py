"""Observation: a device counts its answers, and compares the counts with the expected ones.

See `docs/health.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import DeviceForm, Extension, FirmwarePart

if TYPE_CHECKING:
    from protonn_edge.device.protocol import Message
    from protonn_edge.device.session import Session
    from protonn_edge.extensions.observation.answers import ExpectedAnswers, Health
    from protonn_edge.model.integer_chain import IntegerChain


class ObservationExtension(Extension):
    """Counters of answers, on devices and in model files."""

    name: ClassVar[str] = "observation"
    options: ClassVar[Mapping[str, str]] = {
        "build": "commands:ObserveOptions",
        "export": "commands:ObserveOptions",
        "monitor": "monitor:HealthOptions",
    }
    additions: ClassVar[Mapping[str, str]] = {
        "sensing": "listener:HealthStream",
        "proof": "part:CountersProof",
    }

    def answer_statistics(self) -> type[ExpectedAnswers]:
        """Return the expected answers."""
        from protonn_edge.extensions.observation.answers import ExpectedAnswers

        return ExpectedAnswers

    def device_form(self) -> DeviceForm:
        """Return the form that observes its answers."""
        from protonn_edge.extensions.observation.answers import OBSERVED

        return OBSERVED

    def part_of(self, model: IntegerChain) -> FirmwarePart | None:
        """Return the counters of a model that is observed."""
        from protonn_edge.extensions.observation.part import part_of

        return part_of(model)

    def messages(self) -> Sequence[type[Message]]:
        """Return the request for the counters, and its answer."""
        from protonn_edge.extensions.observation.messages import MESSAGES

        return MESSAGES

    def measured(self) -> tuple[str, Callable[[Session, IntegerChain], Health | None]]:
        """Return the counters at the end of a measurement."""
        from protonn_edge.extensions.observation.session import measured_health

        return "health", measured_health


EXTENSION = ObservationExtension()
