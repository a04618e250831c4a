"""Command lines for people to copy, as the shell of their system reads them.

Elsewhere it is a POSIX shell; on Windows it is PowerShell, and all that needs no variables works in
its older sibling, too.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

WINDOWS = sys.platform == "win32"


def command_line(words: Sequence[str]) -> str:
    """Return a command line of these words."""
    return subprocess.list2cmdline(words) if WINDOWS else shlex.join(words)


def setting_line(name: str, value: str) -> str:
    """Return the line that sets a variable for the programs that the shell starts from then on."""
    if WINDOWS:
        quoted = value.replace("'", "''")
        return f"$env:{name} = '{quoted}'"
    return f"export {name}={shlex.quote(value)}"


def evaluated(words: Sequence[str]) -> str:
    """Return the command that has the shell do what the lines say that a program prints."""
    line = command_line(words)
    return f"{line} | Out-String | Invoke-Expression" if WINDOWS else f'eval "$({line})"'


def from_here(path: Path) -> str:
    """Return a path as it is said in this folder; on another drive than this folder, in full."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return str(path)
