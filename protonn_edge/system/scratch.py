"""Scratch folders that are gone afterwards, even if the process that made them was killed.

A scratch folder is called ``.protonn-edge.PID.NAME`` and is locked for as long as its process
lives. Whoever makes the next one in the same place removes those that are this user's and no longer
locked. Where there are no locks (see `lock`), what a killed process leaves stays.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from protonn_edge.system.lock import InUse, try_lock

_NAME = re.compile(r"\.protonn-edge\.\d+\.\w+")
_POSIX = hasattr(os, "getuid")  # elsewhere a folder can be neither opened nor locked


@contextmanager
def scratch_folder(place: Path | None = None) -> Iterator[Path]:
    """Make a folder that is removed at the end.

    - `place`: where it is made; by default the system's temporary folder.

    Raises `OSError` if it cannot be made.
    """
    place = Path(tempfile.gettempdir()) if place is None else place
    _clear(place)
    fresh = Path(tempfile.mkdtemp(prefix=".protonn-edge-", dir=place))
    held = -1
    try:
        if _POSIX:
            held = os.open(fresh, os.O_RDONLY)
            try_lock(held)
        # It gets the name that others clear only when it is locked.
        folder = fresh.with_name(f".protonn-edge.{os.getpid()}.{fresh.name.rpartition('-')[2]}")
        fresh = fresh.rename(folder)
        yield folder
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if held >= 0:
            os.close(held)


def is_scratch(path: Path) -> bool:
    """Return whether a path is called like a scratch folder."""
    return _NAME.fullmatch(path.name) is not None


def _clear(place: Path) -> None:
    """Remove the scratch folders of this user whose processes are gone."""
    if not _POSIX:
        return
    with suppress(OSError):
        for path in place.iterdir():
            if is_scratch(path):
                _remove_if_left(path)


def _remove_if_left(folder: Path) -> None:
    """Remove a scratch folder unless it is locked, another user's, or no folder at all."""
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        mine = os.fstat(held).st_uid == os.getuid() and stat.S_ISDIR(os.fstat(held).st_mode)
        if mine and try_lock(held):
            shutil.rmtree(folder, ignore_errors=True)
    except InUse:
        pass
    finally:
        os.close(held)
