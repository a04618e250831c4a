"""Compile for the emulator, and say what to install where that fails."""

from __future__ import annotations

import os
from collections.abc import Sequence

from protonn_edge.errors import InputError
from protonn_edge.toolchain.process import relevant_lines, run_within

_DEADLINE_S = 120.0


def run_compiler(command: Sequence[str], packages: str) -> None:
    """Run a compiler.

    Parameters
    ----------
    command : sequence of str
        Its argument vector.
    packages : str
        The Debian packages that hold it and the headers that it wants.

    Raises
    ------
    InputError
        If the compiler or a header is missing, or it fails; the sentence names the packages.
    CheckFailed
        If it takes too long.
    """
    name, environment = command[0], {**os.environ, "LC_ALL": "C"}
    try:
        done = run_within(_DEADLINE_S, command, name=name, environment=environment)
    except FileNotFoundError as error:
        raise InputError(f"{name} is missing; install {packages}") from error
    if done.returncode != 0:
        reason = relevant_lines(done.stderr) or "no message"
        raise InputError(f"{name} failed ({reason}); install {packages}")
