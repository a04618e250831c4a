"""What sensing adds to tables of the core's tests: how recordings are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protonn_edge.extensions.sensing.recordings.recorded import read_recording

ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "readers": {"recording": read_recording},
    "commands that read": {"windows": ("-o", "out.npz")},
}
