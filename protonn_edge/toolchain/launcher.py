"""Run a command that ends, with all that it starts, when the process that asked for it is gone.

A program of its own, run as ``python launcher.py COMMAND...`` at the head of a process group. Its
standard input is a pipe that nobody writes to and whose other end the asking process holds: the
pipe's end is that process's end, even if it was killed.

It runs before every compiler and imports little: `subprocess` would take half as long again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading


def main() -> int:
    """Run the command; return its exit code, or that of a shell where a signal ended it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    program, *_ = command = sys.argv[1:]
    started = os.posix_spawnp(
        program,
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # which Python ignores
    )
    code = os.waitstatus_to_exitcode(os.waitpid(started, 0)[1])
    return code if code >= 0 else 128 - code


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.killpg(0, signal.SIGKILL)  # this process, too


if __name__ == "__main__":
    sys.exit(main())
