"""Teaching: a device learns examples of its owner, in EEPROM.

See `docs/teaching.md`. ProtoNN's part is in `protonn`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import Extension, FirmwarePart

if TYPE_CHECKING:
    from protonn_edge.device.protocol import Message
    from protonn_edge.model.integer_chain import IntegerChain
    from protonn_edge.report.content import ShownFile

MOST_SLOTS = 254  # limit of slots and classes together: the store's header numbers them


class TeachingExtension(Extension):
    """Taught examples, which vote beside a model's prototypes."""

    name: ClassVar[str] = "teaching"
    options: ClassVar[Mapping[str, str]] = {
        "inspect": "commands:InspectOptions",
        "monitor": "monitor:MonitorOptions",
    }
    additions: ClassVar[Mapping[str, str]] = {
        "protonn": "protonn.addition:TeachableProtoNN",
        "sensing": "listener:TaughtStream",
        "proof": "protonn.proof.program:ExamplesProof",
    }
    option_groups: ClassVar[Mapping[str, str]] = {"--teachable": "Training"}

    def part_of(self, model: IntegerChain) -> FirmwarePart | None:
        """Return the examples of a model that can be taught."""
        from protonn_edge.extensions.teaching.part import TeachingPart

        return TeachingPart.of(model)

    def messages(self) -> Sequence[type[Message]]:
        """Return the requests to learn, forget and store, and their answers."""
        from protonn_edge.extensions.teaching.messages import MESSAGES

        return MESSAGES

    def report_files(self) -> Mapping[str, ShownFile]:
        """Return the reader of what ``inspect --teach`` writes."""
        from protonn_edge.extensions.teaching.panel import FILE

        return FILE


EXTENSION = TeachingExtension()
