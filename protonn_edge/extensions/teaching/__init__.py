"""Teaching: a device learns examples of its owner, in EEPROM.

See `docs/teaching.md`. ProtoNN's part is in `protonn`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension, FirmwarePart

if TYPE_CHECKING:
    from protonn_edge.device.protocol import Message
    from protonn_edge.model.integer_chain import IntegerChain
    from protonn_edge.report.content import ShownFile

MOST_SLOTS = 254  # limit of slots and classes together: the store's header numbers them


class TeachingExtension(Extension):
    """Taught examples, which vote beside a model's prototypes."""

    name: ClassVar[str] = "teaching"
    option_groups: ClassVar[Mapping[str, str]] = {"--teachable": "Training"}

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return options that measure what examples are worth, and that teach a board."""
        if command == "inspect":
            from protonn_edge.extensions.teaching.commands import InspectOptions

            return InspectOptions
        if command == "monitor":
            from protonn_edge.extensions.teaching.monitor import MonitorOptions

            return MonitorOptions
        return None

    def part_of(self, model: IntegerChain) -> FirmwarePart | None:
        """Return the examples of a model that can be taught."""
        from protonn_edge.extensions.teaching.part import TeachingPart

        return TeachingPart.of(model)

    def messages(self) -> Sequence[type[Message]]:
        """Return the requests to learn, forget and store, and their answers."""
        from protonn_edge.extensions.teaching.messages import MESSAGES

        return MESSAGES

    def report_parts(self) -> Sequence[ShownFile]:
        """Return the reader of what ``inspect --teach`` writes."""
        from protonn_edge.extensions.teaching.panel import FILE

        return (FILE,)

    def addition_to(self, name: str) -> object:
        """Return what ProtoNN, boards with sensors, and proofs need for examples."""
        if name == "protonn":
            from protonn_edge.extensions.teaching.protonn.addition import TeachableProtoNN

            return TeachableProtoNN()
        if name == "sensing":
            from protonn_edge.extensions.teaching.listener import TaughtStream

            return TaughtStream()
        if name == "proof":
            from protonn_edge.extensions.teaching.protonn.proof.program import ExamplesProof

            return ExamplesProof()
        return None


EXTENSION = TeachingExtension()
