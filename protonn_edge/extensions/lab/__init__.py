"""The lab: boards under test as pytest fixtures, and power meters in their supply.

See `docs/harness.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension

if TYPE_CHECKING:
    from protonn_edge.device.instruments import BenchInstrument
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

    def instrument(self, text: str, volts: float | None) -> BenchInstrument:
        """Return the meter that a text such as ``ppk2:/dev/ttyACM1`` names."""
        from protonn_edge.extensions.lab.meters import instrument_of

        return instrument_of(text, volts)

    def pytest_plugin(self) -> ModuleType:
        """Return the plugin with boards under test."""
        from protonn_edge.extensions.lab import plugin

        return plugin

    def report_files(self) -> Mapping[str, ShownFile]:
        """Return the reader of what ``hil --meter`` writes."""
        from protonn_edge.extensions.lab.power_file import FILES

        return FILES


EXTENSION = LabExtension()
