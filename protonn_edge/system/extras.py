"""Libraries that only some users need, and what to install where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from protonn_edge.errors import InputError

_EXTRAS = {"distributed": "dask", "matplotlib": "plots", "optuna": "search", "skops": "skops"}
"""The extra of pyproject.toml that a library comes with."""


def require(library: str) -> None:
    """Raise `InputError` where a library is not installed, before time is spent on what needs it.

    Raises `InputError`: the sentence names the extra that it comes with.
    """
    if find_spec(library) is None:
        raise InputError(_sentence(library))


def sentence_of(error: ImportError) -> str | None:
    """Return what to install after an import that failed; None if it is of no extra."""
    library = (error.name or "").partition(".")[0]
    return _sentence(library) if library in _EXTRAS else None


def _sentence(library: str) -> str:
    return (
        f"this needs {library}, which is not installed; run: "
        f"pip install 'protonn-edge[{_EXTRAS[library]}]'"
    )
