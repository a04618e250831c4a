"""Folders: locked, made for a while, or kept in the user's cache.

A lock is the operating system's (flock): it ends with the process that holds it, and leaves nothing
to clean up. Windows cannot lock folders in this way, nor can some network file systems; there
nothing is locked, and users must avoid two runs at once.

A scratch folder is called ``.protonn-edge.PID.NAME`` and is locked while its process lives. The
process that makes the next one in the same place removes this user's unlocked ones. Without locks,
the folders of killed processes stay.

The cache has files that are made once on the user's machine: the emulator and the bootloader,
because neither may be shipped as a binary (simavr and Optiboot are GPL), the scripts of the
report's page, and PlatformIO's stand-in platform, which needs a writable folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from protonn_edge.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\.protonn-edge\.\d+\.\w+")
_POSIX = hasattr(os, "getuid")  # elsewhere a folder can be neither opened nor locked


class InUse(Exception):
    """Another process holds the lock; the caller words the message for the user."""


def try_lock(descriptor: int) -> bool:
    """Return whether a file or folder is locked until it is closed; `InUse` if another holds it."""
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
    """Hold the lock of a folder, which is made if missing and removed if it stays empty.

    Raises `InUse` if another process holds it, `InputError` if the folder cannot be made or opened.
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


@contextmanager
def scratch_folder(place: Path | None = None) -> Iterator[Path]:
    """Make a folder in a place, or a temporary one, and remove it; `OSError` if that fails."""
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
    """Remove this user's scratch folders that ended processes have left."""
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


def built_once(name: str, ingredients: Sequence[bytes], build: Callable[[Path], None]) -> Path:
    """Return the cached product of `build`, built now if it is not there.

    It depends on all `ingredients`. `build` writes it, a file or a folder, to the path that it is
    given. Processes may race: each builds under its own name, one of them wins, and all products
    are the same. Raises `InputError` if the cache cannot be written to, or from `build`.
    """
    digest = hashlib.sha256()
    for ingredient in ingredients:
        digest.update(len(ingredient).to_bytes(8, "big") + ingredient)
    product = cache_folder() / f"{name}-{digest.hexdigest()[:16]}"
    if product.exists():
        return product
    try:
        product.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(product.parent) as workshop:
            fresh = workshop / name
            build(fresh)
            fresh.replace(product)
    except OSError as error:
        if not product.exists():  # else another process has made it
            raise InputError(
                f"cannot write to the cache {product.parent}: {error.strerror}; "
                "set XDG_CACHE_HOME to a folder that you can write to"
            ) from error
    return product


def cache_folder() -> Path:
    """Return where this user's caches are, by the custom of the operating system."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        # By the XDG specification a path that is not absolute counts as none.
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():
            base = Path.home() / ".cache"
    return base / "protonn-edge"
