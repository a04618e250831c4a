"""The lab: boards under test as pytest fixtures, and power meters in their supply.

See `docs/harness.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension

if TYPE_CHECKING:
    from protonn_edge.report.content import ShownFile


class LabExtension(Extension):
    """Power meters."""

    name: ClassVar[str] = "lab"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the option of `export` for the sketch of a meter."""
        if command != "export":
            return None
        from protonn_edge.extensions.lab.commands.meter_sketch import MeterOptions

        return MeterOptions

    def report_parts(self) -> Sequence[ShownFile]:
        """Return the reader of what ``hil --meter`` writes."""
        from protonn_edge.extensions.lab.power_file import FILE

        return (FILE,)


EXTENSION = LabExtension()
