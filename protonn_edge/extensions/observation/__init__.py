"""Observation: a device counts its answers, and compares the counts with the expected ones.

See `docs/rejection.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension, FirmwarePart

if TYPE_CHECKING:
    from protonn_edge.device.protocol import Message
    from protonn_edge.model.integer_chain import IntegerChain


class ObservationExtension(Extension):
    """Counters of answers, on devices and in model files."""

    name: ClassVar[str] = "observation"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return options that build the counters, and that show them."""
        if command in ("build", "export"):
            from protonn_edge.extensions.observation.commands import ObserveOptions

            return ObserveOptions
        if command == "monitor":
            from protonn_edge.extensions.observation.monitor import HealthOptions

            return HealthOptions
        return None

    def part_of(self, model: IntegerChain) -> FirmwarePart | None:
        """Return the counters of a model that is observed."""
        from protonn_edge.extensions.observation.part import part_of

        return part_of(model)

    def messages(self) -> Sequence[type[Message]]:
        """Return the request for the counters, and its answer."""
        from protonn_edge.extensions.observation.messages import MESSAGES

        return MESSAGES

    def addition_to(self, name: str) -> object:
        """Return models that observe their answers, and what others ask about their counters."""
        if name == "firmware":
            from protonn_edge.extensions.observation.answers import OBSERVED

            return OBSERVED
        if name == "measurement":
            from protonn_edge.extensions.observation.session import STATEMENT

            return STATEMENT
        if name == "sensing":
            from protonn_edge.extensions.observation.listener import HealthStream

            return HealthStream()
        if name == "proof":
            from protonn_edge.extensions.observation.part import CountersProof

            return CountersProof()
        return None


EXTENSION = ObservationExtension()
