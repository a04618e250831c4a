"""Keep other processes away from a file or a folder that is being written.

The lock is the operating system's (flock): it goes with the process that holds it, however that
ends, and nothing is left to clean up. Windows has no such lock on a folder, and some network file
systems have none at all; there nothing is locked, and two runs at once are the user's to avoid.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from protonn_edge.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]


class InUse(Exception):
    """Another process holds the lock; what that means for the user, the caller says."""


def try_lock(descriptor: int) -> bool:
    """Lock an open file or folder until its descriptor is closed; return whether it is locked.

    Raises `InUse` if another process, or another descriptor of this one, holds the lock.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InUse from error
    except OSError:  # a file system without locks
        return False
    return True


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made if it is missing and goes again if it stays empty.

    Raises `InUse` if another process holds it.
    Raises `InputError` if the folder cannot be made or opened.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        descriptor = _opened(folder)
        try:
            if descriptor >= 0:
                try_lock(descriptor)
            yield
        finally:
            if descriptor >= 0:
                os.close(descriptor)
    finally:
        for place in made:
            try:
                place.rmdir()
            except OSError:  # it is in use now
                break


def _opened(folder: Path) -> int:
    """Make a folder and return a descriptor of it, -1 where folders cannot be opened."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if fcntl is None:
            return -1
        return os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"cannot use {folder}: {error.strerror}; choose another folder") from error
