"""Commands of this package that programs of it start: their words, and their environment.

They run in folders of other people, of which no module may be imported in place of a library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def python_module(name: str, words: Sequence[str]) -> list[str]:
    """Return the command that runs a module of this package, which may be the package itself."""
    return [sys.executable, "-m", name, *words]


def safe_environment(**more: str) -> dict[str, str]:
    """Return this process's environment, in which Python imports nothing of the current folder.

    What such a program starts inherits it, as PlatformIO in a project does.
    """
    return {**os.environ, "PYTHONSAFEPATH": "1", **more}
