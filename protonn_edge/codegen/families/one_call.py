"""Compile a project with one call of a compiler."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from protonn_edge.chips.toolchain.process import (
    compiling_environment,
    relevant_lines,
    run_within,
)
from protonn_edge.system.errors import CheckFailed

BUILDS = ".build"  # the folder of products in a project
MODEL_OBJECT = "-pnn_model.o"  # the end of the name of the model's object, which stays beside them
_DEADLINE_S = 120.0


def sources_in(folder: Path, places: Sequence[str], pattern: str) -> list[str]:
    """Return the names of the sources in some of a project's folders, sorted in each."""
    found = (path for place in places for path in sorted((folder / place).glob(pattern)))
    return [path.relative_to(folder).as_posix() for path in found]


def compile_at_once(folder: Path, command: Sequence[str], product: Path) -> Path:
    """Compile and link a project in a new folder below `BUILDS`; return the path of the product.

    `command` writes the product, a path below the project's folder, and with ``-save-temps=obj``
    further files beside it, of which only the model's object stays. Raises `CheckFailed` if the
    compiler refuses the sources.
    """
    build = folder / product.parent
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    (folder / BUILDS / ".gitignore").write_text("*\n", encoding="utf-8")
    environment = compiling_environment()
    name = command[0]
    done = run_within(_DEADLINE_S, command, name=name, folder=folder, environment=environment)
    if done.returncode != 0:
        raise CheckFailed(f"{name} failed: {relevant_lines(done.stderr)}")
    for path in build.iterdir():
        if path.name != product.name and not path.name.endswith(MODEL_OBJECT):
            path.unlink()
    return folder / product
