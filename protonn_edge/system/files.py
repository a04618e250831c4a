"""Find files, read only regular files, and write files completely or not at all.

Every file that a user names is checked by `check_file` before it is opened, and everything that the
package writes goes through `write_atomically` or `write_together`: a reader never sees half a file,
and a run that fails leaves the old files.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Self

from protonn_edge.system.checks import check, check_most
from protonn_edge.system.errors import InputError, InvalidValue, cannot_read, cannot_write
from protonn_edge.system.extensions import folders_in_packages
from protonn_edge.system.folders import InUse, scratch_folder, try_lock

Content = bytes | str | Callable[[], bytes]
"""Bytes, text to write as UTF-8 with unchanged line ends, or a function that returns bytes."""

MODEL_LIMIT_BYTES = 64 * 2**20
"""The size of a model file, also of another program: far more than fits on any board."""


def as_path(path: object) -> Path:
    """Return the path of a file or folder; raise `InputError` for other objects, such as data."""
    if isinstance(path, str | os.PathLike):
        return Path(path)
    raise InvalidValue(type(path).__name__, "not a file name", "save it to a file first")


def check_file(
    path: Path,
    *,
    limit_bytes: int,
    may_be_empty: bool = False,
    remedy: str = "name a file that can be read",
) -> None:
    """Raise `InputError` unless `path` is a regular file of 1 (or 0) to `limit_bytes` bytes.

    A pipe or a device could block, or never end. `remedy` is the message's advice if the file does
    not exist.
    """
    try:
        state = path.stat()
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist; {remedy}") from error
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    if not stat.S_ISREG(state.st_mode):
        raise InvalidValue(path, "not a regular file", "name a file that can be read")
    size = state.st_size
    check(not (size == 0 and not may_be_empty), path, "empty", "some content", "use another file")
    check_most(path, size, limit_bytes, "bytes", "use a smaller file")


def read_file(
    path: Path, *, limit_bytes: int, may_be_empty: bool = False, remedy: str | None = None
) -> bytes:
    """Return a file's contents; `InputError` if `check_file` refuses it, or it cannot be read."""
    remedies = {} if remedy is None else {"remedy": remedy}
    check_file(path, limit_bytes=limit_bytes, may_be_empty=may_be_empty, **remedies)
    try:
        return path.read_bytes()
    except OSError as error:
        more = "" if remedy is None else f"; {remedy}"
        raise InputError(f"cannot read {path}: {error.strerror}{more}") from error


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write bytes, or text as UTF-8 with unchanged line ends, by renaming a temporary file.

    Missing parent folders are made. Raises `InputError` if the folder cannot be made or written to,
    or `path` is a folder or a device.
    """
    path = resolved(path)  # keeps a link and replaces its target
    if path.exists() and not path.is_file():
        raise cannot_write(path, "not a regular file")
    try:
        with _folders_made(path.parent), scratch_folder(path.parent) as scratch:
            fresh = scratch / path.name
            _write_new(fresh, as_bytes(content))
            fresh.replace(path)
            _flush_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def move_file(old: Path, new: Path) -> None:
    """Rename a file, in one step, and make the new one's folders; `InputError` if it stays."""
    try:
        with _folders_made(new.parent):
            old.replace(new)
            _flush_folder(new.parent)
            _flush_folder(old.parent)
    except OSError as error:
        raise cannot_write(new, error) from error


def remove_file(path: Path) -> None:
    """Remove a file; raise `InputError` if it stays."""
    try:
        path.unlink()
        _flush_folder(path.parent)
    except OSError as error:
        raise InputError(f"cannot remove {path}: {error.strerror}; check its folder") from error


def write_plainly(folder: Path, files: Mapping[str, Content]) -> None:
    """Write files into a scratch folder, which nobody else reads and no power failure matters to.

    They are named with ``/``. Raises `InputError` if the folder cannot be written.
    """
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(as_bytes(content))
    except OSError as error:
        raise cannot_write(folder, error) from error


def _write_new(path: Path, content: bytes) -> None:
    """Write a new file, and wait until the disk has it."""
    with path.open("xb", buffering=0) as file:
        _put(file.fileno(), content)
        os.fsync(file.fileno())


def _put(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _flush_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder, where the system can do this."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # it may be written to, but not read
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # as on some network file systems
            raise
    finally:
        os.close(descriptor)


def resolved(path: Path) -> Path:
    """Return a path to write to without links and ``..``; `InputError` if links are circular."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise cannot_write(path, str(error)) from error


class AppendedFile:
    """A file that one run at a time appends to, in a ``with``; `InputError` if it is in use.

    Each append is written immediately, so a killed run loses at most part of a line. `flag` is the
    option that names the file, empty if it is to be this one. If another program puts a new file in
    its place, as editors do when they save, appends would go to the old file, which no name leads
    to anymore: they are refused.
    """

    def __init__(self, path: Path, flag: str = "-o") -> None:
        self._path = path
        self._place = path.absolute()
        self._flag = flag
        self._file = self._opened()

    def _opened(self) -> io.FileIO:
        try:
            file = io.FileIO(self._place, "a+b")
        except OSError as error:
            remedy = f"choose another file with {self._flag}" if self._flag else "check its folder"
            raise cannot_write(self._path, error, remedy) from error
        try:
            try_lock(file.fileno())
        except InUse as error:
            file.close()
            other = f", or name another file with {self._flag}" if self._flag else ""
            raise InputError(
                f"another run is writing to {self._path}; wait until it ends{other}"
            ) from error
        return file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            if kind is None and error.errno != errno.EINVAL:  # a pipe or a device has no disk
                raise cannot_write(self._path, error) from error
        finally:
            self._file.close()

    @property
    def is_replaced(self) -> bool:
        """Whether another program has put a new file in its place, or removed it."""
        try:
            return not os.path.samestat(os.fstat(self._file.fileno()), self._place.stat())
        except OSError:
            return True

    def _follow(self) -> None:
        """Act on a new file in its place, before something is appended."""
        raise InputError(
            f"another program replaced {self._path} while this run was writing to it; run the "
            f"command again, or name another file with {self._flag}"
        )

    def _write(self, content: bytes) -> None:
        if self.is_replaced:
            self._follow()
        try:
            _put(self._file.fileno(), content)
        except OSError as error:
            remedy = f"check the disk, or choose another file with {self._flag}"
            raise cannot_write(self._path, error, remedy) from error


def write_together(
    folder: Path, files: Mapping[str, Content], *, remove: Iterable[str] = ()
) -> None:
    """Write several files below a folder, named with ``/``: all of them, or none.

    All are first written to a scratch folder inside `folder`, where a full disk is noticed, and
    then renamed one by one, in the given order. If a rename fails, or Ctrl-C or SIGTERM stops the
    program, the earlier ones are undone. A process killed between two renames leaves some files new
    and others old, but each complete. Finally, the files to `remove` and the folders that become
    empty are deleted.

    Raises `InputError` if the folder cannot be written, or a part of a path is a symbolic link;
    files behind links are never touched.
    """
    stale = [name for name in remove if name not in files]
    check_no_links(folder, [*files, *stale])
    try:
        with _folders_made(folder, files), scratch_folder(folder) as scratch:
            _replace_all(folder, files, scratch)
        for name in stale:
            _remove(folder, PurePosixPath(name))
    except OSError as error:
        raise cannot_write(folder, error) from error


def check_no_links(folder: Path, names: Iterable[str]) -> None:
    """Raise `InputError` if a file below a folder, or a folder on the way to it, is a link."""
    for name in names:
        for part in (PurePosixPath(name), *PurePosixPath(name).parents[:-1]):
            path = folder / part
            if path.is_symlink():
                raise InputError(
                    f"{path} is a symbolic link, which is not followed; remove the link, or choose "
                    "another folder"
                )


@contextlib.contextmanager
def _folders_made(folder: Path, names: Iterable[str] = ()) -> Iterator[None]:
    """Make a folder and those on the way to files below it; on an error, remove the new ones."""
    inner = {folder / part for name in names for part in PurePosixPath(name).parents}
    places = sorted({*inner, folder, *folder.parents}, key=lambda place: len(place.parts))
    made = [place for place in places if not place.exists()]
    try:
        for place in made:
            place.mkdir(exist_ok=True)
        yield
        for place in made:
            _flush_folder(place.parent)
    except BaseException:
        for place in reversed(made):
            with contextlib.suppress(OSError):
                place.rmdir()
        raise


def _replace_all(folder: Path, files: Mapping[str, Content], scratch: Path) -> None:
    """Move the new files into place; if one cannot be moved, restore the old files."""
    for number, (name, content) in enumerate(files.items()):
        _write_new(scratch / f"{number}.new", as_bytes(content))
        if (folder / name).exists():
            shutil.copy2(folder / name, scratch / f"{number}.old")
    try:
        for number, name in enumerate(files):
            (scratch / f"{number}.new").replace(folder / name)
        for place in dict.fromkeys((folder / name).parent for name in files):
            _flush_folder(place)
    except BaseException:  # also when the program is stopped
        for number, name in enumerate(files):
            old = scratch / f"{number}.old"
            if (scratch / f"{number}.new").exists():
                break
            if old.exists():
                old.replace(folder / name)
            else:
                (folder / name).unlink()
        raise


def _remove(folder: Path, name: PurePosixPath) -> None:
    """Remove a file, and the folders that become empty."""
    (folder / name).unlink(missing_ok=True)
    for parent in name.parents[:-1]:
        with contextlib.suppress(OSError):  # not empty, or gone
            (folder / parent).rmdir()


def as_bytes(content: Content) -> bytes:
    """Return the bytes of a file's content."""
    if callable(content):
        return content()
    return content.encode() if isinstance(content, str) else content


_PACKAGE = Path(__file__).resolve().parents[1]


def resource(name: str) -> Path:
    """Return the path of a top-level file or folder of the project, such as ``"templates"``.

    In a checkout it lies at the top level; a wheel has it inside the package, by the same name.
    Raises `InputError` if neither exists: the installation is broken.
    """
    for root in (_PACKAGE, _PACKAGE.parent):
        candidate = root / name
        if candidate.exists():
            return candidate
    raise InputError(f"{name} is missing from this installation; install protonn-edge again")


def resources(name: str) -> list[Path]:
    """Return the paths of the folders of a name: the top-level one, and those in extensions."""
    own = [root / name for root in (_PACKAGE, _PACKAGE.parent)]
    return [*filter(Path.is_dir, own), *(folder for _, folder in folders_in_packages(name))]
