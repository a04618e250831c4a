"""Folders that are locked, temporary, or kept in the user's cache.

A lock belongs to the operating system (flock): it ends with the process that holds it, and leaves
nothing to clean up. Windows and some network file systems cannot lock folders in this way; there
nothing is locked, and users must avoid two runs at once.

A scratch folder is called ``.protonn-edge.PID.NAME`` and is locked while its process lives. The
next process that creates a scratch folder in the same place removes this user's unlocked ones.
Without locks, the folders of killed processes stay.

The cache holds files that are made once on the user's machine: the emulator and the bootloader,
which may not be shipped as binaries (simavr and Optiboot are under the GPL), the scripts of the
report's page, and a stand-in platform for PlatformIO, which needs a writable folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from protonn_edge.system.errors import cannot_write

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\.protonn-edge\.\d+\.\w+")
_POSIX = hasattr(os, "getuid")  # other systems cannot open or lock folders


def as_named(folder: Path) -> Path:
    """Return a folder as the user named it, but the current one, which needs no name, by its path.

    It is for messages.
    """
    return folder.absolute() if folder == Path() else folder


class InUse(Exception):
    """Another process holds the lock; the caller writes the message for the user."""


def try_lock(descriptor: int) -> bool:
    """Lock an open file or folder, and return whether that is possible; `InUse` if taken."""
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
    """Lock a folder, created if missing and removed if it stays empty.

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
            except OSError:  # in use by now
                break


def _opened(folder: Path) -> int:
    """Make a folder and return its descriptor, -1 on systems that cannot open folders."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if fcntl is None:
            return -1
        return os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise cannot_write(folder, error) from error


@contextmanager
def scratch_folder(place: Path | None = None) -> Iterator[Path]:
    """Make a scratch folder in `place`, or a temporary one, then remove it; may raise `OSError`."""
    place = Path(tempfile.gettempdir()) if place is None else place
    _clear(place)
    with ExitStack() as stack:
        while True:
            folder = place / f".protonn-edge.{os.getpid()}.{secrets.token_hex(4)}"
            stack.callback(_remove, folder)  # before it exists, so that Ctrl-C never leaves it
            folder.mkdir(0o700)
            if _is_held(folder, stack):
                break
        yield folder


def _is_held(folder: Path, stack: ExitStack) -> bool:
    """Lock a new scratch folder; false if another process has taken it for one left behind."""
    if not _POSIX:
        return True
    try:
        held = os.open(folder, os.O_RDONLY)
        stack.callback(os.close, held)
        try_lock(held)
        return os.path.samestat(os.fstat(held), folder.stat())
    except (FileNotFoundError, InUse):
        return False


def _remove(folder: Path) -> None:
    """Remove a folder, also if Ctrl-C arrives meanwhile."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def is_scratch(path: Path) -> bool:
    """Return whether a path has the name of a scratch folder."""
    return _NAME.fullmatch(path.name) is not None


def _clear(place: Path) -> None:
    """Remove this user's scratch folders that killed processes have left behind."""
    if not _POSIX:
        return
    with suppress(OSError):
        for path in place.iterdir():
            if is_scratch(path):
                _remove_if_left(path)


def _remove_if_left(folder: Path) -> None:
    """Remove a scratch folder unless it is locked, belongs to another user, or is no folder."""
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        mine = os.fstat(held).st_uid == os.getuid() and stat.S_ISDIR(os.fstat(held).st_mode)
        if mine and try_lock(held):
            _remove(folder)
    except InUse:
        pass
    finally:
        os.close(held)


def digest(ingredients: Iterable[bytes]) -> str:
    """Return the SHA-256 of ingredients with their lengths, so that none can stand for two."""
    whole = hashlib.sha256()
    for each in ingredients:
        whole.update(len(each).to_bytes(8, "big") + each)
    return whole.hexdigest()


def built_once(name: str, ingredients: Sequence[bytes], build: Callable[[Path], None]) -> Path:
    """Return the cached product of `build`, built now if it is missing.

    The product, a file or a folder, depends on all `ingredients`; `build` writes it to a given
    path. Processes may race: each builds under its own name, one wins, and all products are the
    same. Raises `InputError` if the cache cannot be written to, or if `build` does.
    """
    product = cache_folder() / f"{name}-{digest(ingredients)[:16]}"
    if product.exists():
        return product
    try:
        product.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(product.parent) as workshop:
            fresh = workshop / name
            build(fresh)
            fresh.replace(product)
    except OSError as error:
        if not product.exists():  # unless another process has built it
            remedy = "set XDG_CACHE_HOME to a folder that you can write to"
            raise cannot_write(product.parent, error, remedy) from error
    return product


def cache_folder() -> Path:
    """Return this user's cache folder, where the operating system expects it."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        # The XDG specification ignores relative paths.
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():
            base = Path.home() / ".cache"
    return base / "protonn-edge"
