"""What commands share that run the firmware of a project: is it the kind that they talk to?"""

from __future__ import annotations

from pathlib import Path

from protonn_edge.errors import InputError
from protonn_edge.export.folder import LIVE, LOGGER, kind_in

_LISTENERS = {LOGGER: "record", LIVE: "monitor"}


def check_project(folder: Path, wanted: str | None = None) -> None:
    """Refuse a project whose firmware talks to another command.

    Parameters
    ----------
    folder : Path
        Of a project, or of nothing.
    wanted : str, optional
        The kind of firmware, `LOGGER` or `LIVE`; by default what 'build' writes without a sensor.

    Raises
    ------
    InputError
    """
    kind = kind_in(folder)
    if kind not in _LISTENERS or kind == wanted:
        return
    build = "build" if wanted is None else "logger" if wanted == LOGGER else "build --sensor"
    without = " without --sensor" if wanted is None else ""
    raise InputError(
        f"{folder} has {kind} in it, which only 'protonn-edge {_LISTENERS[kind]}' reads; use that, "
        f"or name the folder that 'protonn-edge {build}' wrote{without}"
    )
