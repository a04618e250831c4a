"""Write a file whole or not at all.

Everything that the package writes goes through here: a reader never sees half a file, and a run
that fails leaves what was there before.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from protonn_edge.errors import InputError


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write `content` to a temporary name beside `path`, then rename it.

    Parameters
    ----------
    path : Path
        Where the file shall be; missing parent folders are made.
    content : bytes or str
        Text is written as UTF-8, its line ends as they are, on every system.

    Raises
    ------
    InputError
        If the folder cannot be made or written to, or `path` is a folder or a device.
    """
    try:
        path = path.resolve()  # a link stays, and what it points to is written
    except (OSError, RuntimeError) as error:  # links that lead to each other
        raise InputError(f"cannot write {path}: {error}; choose another name") from error
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it is not an ordinary file; choose another name")
    data = content.encode() if isinstance(content, str) else content
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        temporary.chmod(_default_mode())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise InputError(f"cannot write {path}: {error.strerror}; choose another place") from error


def _default_mode() -> int:
    """Return the mode that `open` would give a new file; `mkstemp` gives 0600."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
