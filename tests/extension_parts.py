"""What extensions add to checks of the core, which finds it: delete an extension, and it is gone.

Modules are in folders that are named as the core's: ``tests/laws/conformance/KIND.py`` has
instances of a kind of stage, and so has ``tests/extensions/NAME/conformance/KIND.py``. Entries of
tables are in ``ADDITIONS`` of ``tests/extensions/NAME/additions.py``, by the names that `additions`
is given.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from protonn_edge.system.extensions import extensions

TESTS = Path(__file__).parent


def folders(name: str) -> list[Path]:
    """Return the folders of a name, the core's first, which may be among the laws."""
    core = TESTS / "laws" / name
    return [core if core.is_dir() else TESTS / name, *sorted(TESTS.glob(f"extensions/*/{name}"))]


def name_of(module: Path) -> str:
    """Return the name by which a module in such a folder is imported."""
    return ".".join(module.relative_to(TESTS).with_suffix("").parts)


def modules(folder: str, name: str) -> list[ModuleType]:
    """Return the modules of a name in such folders, the core's first."""
    files = (each / f"{name}.py" for each in folders(folder))
    return [import_module(name_of(file)) for file in files if file.is_file()]


def additions(table: str) -> dict[str, Any]:
    """Return the entries that extensions add to a table of tests."""
    found: dict[str, Any] = {}
    for file in sorted(TESTS.glob("extensions/*/additions.py")):
        found |= import_module(name_of(file)).ADDITIONS.get(table, {})
    return found


def needs(extension: str) -> pytest.MarkDecorator:
    """Return the mark of a test of the core that also uses an extension."""
    is_there = extension in {each.name for each in extensions()}
    return pytest.mark.skipif(
        not is_there, reason=f"needs the extension {extension}; to run: install it"
    )
