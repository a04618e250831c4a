"""The common options of 'record' and 'monitor': a board that samples a sensor."""

from __future__ import annotations

from typing import Any

from protonn_edge.cli.command import option, together
from protonn_edge.cli.options import PORT
from protonn_edge.extensions.sensing.commands.played import PLAYED
from protonn_edge.extensions.sensing.commands.source import SensorSource


def source_options(emulate: str, folder: object, **more: object) -> Any:
    """Declare a `SensorSource` by the help of ``--emulate``, the option of its folder, and more."""
    flag = option(emulate, is_flag=True)
    parts = {"port": PORT, "emulate": flag, "sensors": PLAYED, "folder": folder}
    return together(SensorSource, parts | more)
