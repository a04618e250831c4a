"""Ctrl-C while a program starts: one line, whatever is being imported.

An exception would end as a traceback, as an import error of a library, or be ignored.
"""

from __future__ import annotations

import os
import sys

# `signal` would import more
from _signal import (  # type: ignore[import-not-found]
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)

STOPPED, EXIT_CODE = "stopped by Ctrl-C", 130


def end_at_once(_number: int, _frame: object) -> None:
    """End the program, as a handler of SIGINT, as a command ends that Ctrl-C stops."""
    if "--json" in sys.argv:
        os.write(1, f'{{"ok": false, "error": "{STOPPED}"}}\n'.encode())
    os.write(2, f"error: {STOPPED}\n".encode())
    os._exit(EXIT_CODE)


def heed(*, by_exception: bool) -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` from now on, as commands expect, or end the program.

    A program that ignores it, or has a handler of its own, keeps doing so.
    """
    raises, ends = default_int_handler, end_at_once
    before, wanted = (ends, raises) if by_exception else (raises, ends)
    if getsignal(SIGINT) is before:
        signal(SIGINT, wanted)
