"""Run a command that ends, with all that it starts, when the process that asked for it is gone.

A program of its own, run as ``python launcher.py COMMAND...`` at the head of a process group. Its
standard input is a pipe that nobody writes to and whose other end the asking process holds: the
pipe's end is that process's end, even if it was killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    """Run the command; return its exit code, or that of a shell where a signal ended it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    code = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL)
    return code if code >= 0 else 128 - code


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.killpg(0, signal.SIGKILL)  # this process, too


if __name__ == "__main__":
    sys.exit(main())
