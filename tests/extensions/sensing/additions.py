"""What sensing adds to tables of the core's tests: how recordings are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from protonn_edge.extensions import sensing
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.recordings.recorded import read_recording
from protonn_edge.system.errors import InputError

FOLDER = Path(str(sensing.__file__)).parent


def is_sensor(name: str) -> bool:
    """Return whether a sensor, or a file that describes one, has this name."""
    try:
        return bool(sensor_kind(name))
    except InputError:
        return False


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "names on pages": {"sensors": [path.stem for path in FOLDER.glob("*.toml")]},
    "values of options": {"sensor": is_sensor},
    "values that do not exist": {"build --sensor mpu6051": ["--sensor mpu6051"]},
    "readers": {"recording": read_recording},
    "commands that read": {"windows": ("-o", "out.npz")},
}
