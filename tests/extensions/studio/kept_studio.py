"""The studio, whose commands keep what they compile as those of all tests do.

Run it as the command itself, with a module first: ``kept_studio.py protonn_edge studio``.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path


def own_module(module: str, words: Sequence[str]) -> list[str]:
    """Return the command line of a module in a process that keeps what it compiles."""
    return [sys.executable, "-P", __file__, module, *words]


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[2]))
    from kept import keep_builds

    from protonn_edge.extensions.studio import processes

    keep_builds()
    processes.python_module = own_module
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
