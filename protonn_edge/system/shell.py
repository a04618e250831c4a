"""Command lines for people to copy, as the shell of their system reads them.

Elsewhere it is a POSIX shell; on Windows it is PowerShell, and all that needs no variables works in
its older sibling, too.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence

WINDOWS = sys.platform == "win32"
LINUX = sys.platform == "linux"


def command_line(words: Sequence[str]) -> str:
    """Return a command line of these words."""
    return subprocess.list2cmdline(words) if WINDOWS else shlex.join(words)


def setting_line(name: str, value: str) -> str:
    """Return the line that sets a variable for the programs that the shell starts from then on."""
    if WINDOWS:
        quoted = value.replace("'", "''")
        return f"$env:{name} = '{quoted}'"
    return f"export {name}={shlex.quote(value)}"
