"""Compile portable C on this machine, so that the generated code can be run and checked here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from protonn_edge.errors import InputError
from protonn_edge.system.folders import scratch_folder
from protonn_edge.toolchain.process import compile_sources

# A program runs for a fraction of the time that it takes to compile: -O2 gains nothing, and takes
# three times as long for a function with thousands of lines, as unrolled projections have.
_FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
# Not optimized: nothing undefined is optimized away, and compiling takes half the time. A sanitizer
# names functions and lines, which takes no more than -g1.
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O0", "-g1")


def build_host_executable(
    sources: Sequence[Path],
    include: Path,
    out: Path,
    sanitize: bool = False,
    *,
    deadline_s: float = 120.0,
) -> Path:
    """Compile and link C99 sources, every warning an error; `out` appears only when it is whole.

    With `sanitize`, the program stops at the first undefined behaviour or bad memory access (gcc,
    clang). Raises `InputError` if this machine has no C compiler, which the variable CC can name,
    and `CheckFailed` with its words if it refuses the sources.
    """
    compiler = _compiler()
    out.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(out.parent) as scratch:
        unfinished = scratch / "program.exe"  # a name that Windows' compilers leave alone
        flags = (*_FLAGS, *(_SANITIZERS if sanitize else ()), f"-I{include}")
        command = [compiler, *flags, *map(str, sources), "-o", str(unfinished), "-lm"]
        compile_sources(command, sources, deadline_s=deadline_s, name="the C compiler")
        unfinished.replace(out)
    return out


def has_compiler() -> bool:
    """Return whether this machine has a C compiler."""
    try:
        return bool(_compiler())
    except InputError:
        return False


def _compiler() -> str:
    """Return the path of the C compiler that CC names, or of the first that there is."""
    chosen = os.environ.get("CC")
    for name in [chosen] if chosen else ["cc", "gcc", "clang"]:
        path = shutil.which(name)
        if path is not None:
            return path
    raise InputError(
        f"there is no C compiler called {chosen or 'cc, gcc or clang'}; install gcc or clang, or "
        "set CC"
    )
