"""Command lines to copy, quoted for the user's shell.

On Windows the shell is PowerShell, and lines without variables also work in cmd; on other systems
it is a POSIX shell.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence

WINDOWS = sys.platform == "win32"
LINUX = sys.platform == "linux"


def command_line(words: Sequence[str]) -> str:
    """Return the command line of these words, quoted."""
    return subprocess.list2cmdline(words) if WINDOWS else shlex.join(words)


def quoted_word(text: str) -> str:
    """Return a word of a command line, such as the value in ``--drop VALUE``, quoted."""
    return command_line([text])


def setting_line(name: str, value: str) -> str:
    """Return the line that sets an environment variable in the shell."""
    if WINDOWS:
        quoted = value.replace("'", "''")
        return f"$env:{name} = '{quoted}'"
    return f"export {name}={shlex.quote(value)}"
