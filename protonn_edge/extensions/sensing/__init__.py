"""Sensing: boards that record sensors or classify their samples, recordings, edits, speech.

See `docs/recording.md` and `docs/live.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension

if TYPE_CHECKING:
    from protonn_edge.codegen.export.exporting import TriedLibrary

VOTES_LIMIT = 15  # windows that vote on a report
SAMPLES_LIMIT = 0xFFFF  # of a window


class SensingExtension(Extension):
    """Sensors, and what their boards send."""

    name: ClassVar[str] = "sensing"
    has_sensors: ClassVar[bool] = True

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return options for sensors, emulated ones, and the answers to a recording."""
        if command == "build":
            from protonn_edge.extensions.sensing.commands.live import BuildLiveOptions

            return BuildLiveOptions
        if command == "export":
            from protonn_edge.extensions.sensing.commands.live import ExportLiveOptions

            return ExportLiveOptions
        if command == "emulate":
            from protonn_edge.extensions.sensing.commands.played import PlayedOptions

            return PlayedOptions
        if command == "predict":
            from protonn_edge.extensions.sensing.commands.stream import StreamOptions

            return StreamOptions
        return None

    def library_files(self, library: TriedLibrary) -> Mapping[str, str]:
        """Return what frames the answers of the sketch *Live*, if it polls its sensor."""
        from protonn_edge.extensions.sensing.sensor_projects import files_of_frames

        return files_of_frames(library.files)

    def addition_to(self, name: str) -> object:
        """Return the channels of described chips, and files with intervals of recordings."""
        if name != "data":
            return None
        from protonn_edge.data.points.instruments import SensorFiles
        from protonn_edge.extensions.sensing.described import channels_of
        from protonn_edge.extensions.sensing.recordings.interval_files import labels_files

        return SensorFiles(channels_of, labels_files)


EXTENSION = SensingExtension()
