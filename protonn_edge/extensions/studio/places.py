"""Where the windows of a file are in the takes of their recording."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from protonn_edge.data.files.archive import ArrayArchive
from protonn_edge.data.files.arrays import FILE_LIMIT_BYTES, source_of
from protonn_edge.extensions.sensing.commands.windows_file import BEGINS
from protonn_edge.extensions.studio.facts import digest, recording_at
from protonn_edge.extensions.studio.folder import version_of
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject


@dataclass(frozen=True, eq=False)
class WindowPlaces:
    """The rows at which windows begin, and the rows at which takes do."""

    window: int = 0
    begins: Sequence[int] = ()  # of each window, of the test part if there is one
    takes: Sequence[int] = (0,)  # the last one is the end

    @classmethod
    def of(cls, points: Path) -> WindowPlaces:
        """Return the places of a file of windows; none if its recording is not here as it was."""
        try:
            source = source_of(points)
            name = source.get("name", "")
            recording = points.parent / name
            if not name or name != Path(name).name or digest(recording) != source["sha256"]:
                return cls()
            with ArrayArchive(points, limit_bytes=FILE_LIMIT_BYTES) as archive:
                begins = archive.read(BEGINS["X_test" in archive.names])
            takes = recording_at(recording, version_of(recording)).takes
        except (InputError, OSError):
            return cls()
        rows = np.cumsum([0, *(take.n for take in takes)])
        fits = begins.dtype.kind in "iu" and begins.ndim == 1 and rows[-1] == source.get("rows")
        window = source.get("window")
        if not fits or type(window) is not int:
            return cls()
        return cls(window, begins.tolist(), rows.tolist())

    def at(self, row: int) -> JsonObject | None:
        """Return the take, from 1, of a window by its row, with its first sample there."""
        if row >= len(self.begins):
            return None
        begin = self.begins[row]
        take = bisect(self.takes, begin)
        if not 1 <= take < len(self.takes):
            return None
        return {"take": take, "first": begin - self.takes[take - 1], "n": self.window}
