"""Sentences about errors of libraries and of the system, and about bugs."""

from __future__ import annotations

import errno

from protonn_edge.system.errors import shortened
from protonn_edge.system.lazy import sentence_of

_TOO_MANY = (errno.EMFILE, errno.ENFILE)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSYS)


def sentence_about(error: Exception) -> str | None:
    """Return the sentence about an error of the input that another library raised."""
    if isinstance(error, ImportError) and (sentence := sentence_of(error)):
        return sentence
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, MemoryError) or "failed to map segment" in str(error):  # of a library
        return (
            "the command needs more memory than is available; use fewer points or, in training, "
            "fewer prototypes"
        )
    if isinstance(error, FloatingPointError):
        return (
            "a number in the input or an option is too large or too small to compute with "
            f"({error}); rescale the data, or choose option values closer to the defaults"
        )
    return None


def _of_system(error: OSError) -> str:
    """Return the sentence about what the system refuses, which need not be a file."""
    reason = error.strerror or str(error)
    if error.errno in _TOO_MANY:
        return f"{reason.lower()}: the limit is too low; raise it with 'ulimit -n 1024'"
    if error.errno in _FORBIDDEN and not error.filename:
        return (
            f"the system refuses memory that processes share, or a socket: {reason}; make /dev/shm "
            "writable, or use one process (--jobs 1) and another port"
        )
    gone = "the current folder" if isinstance(error, FileNotFoundError) else "the output"
    name = error.filename or gone
    return f"cannot use {name}: {reason}; choose another file or folder"


def bug(error: Exception, variable: str) -> str:
    """Return the sentence about a bug; with a variable set, the command prints a traceback."""
    summary = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 200)
    return (
        f"this is a bug in protonn-edge ({summary}); please report it with the traceback that the "
        f"same command prints if {variable}=1 is set"
    )
