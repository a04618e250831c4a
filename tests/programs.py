"""Programs that tests start: each ends with the block that starts it, whatever happens there.

A failed assertion in ``with subprocess.Popen(...)`` would wait for a program that nobody ends. How
long a program may take is the test's own limit, which pytest.ini sets.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import psutil


@contextlib.contextmanager
def started(*command: object, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Run a program until the end of a block, which kills it and all that it has started."""
    with subprocess.Popen([*map(str, command)], start_new_session=True, **options) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def on_a_line(program: object) -> Iterator[str]:
    """Run a program whose standard input is a serial line; yield the name of its other end."""
    import tty  # not on Windows

    ours, its = os.openpty()
    for end in (ours, its):
        tty.setraw(end)
    with started(program, stdin=ours):
        yield os.ttyname(its)
    os.close(ours)
    os.close(its)


def interruptible(*command: object) -> list[object]:
    """Return the command of a program that heeds Ctrl-C.

    What a shell starts in the background ignores it, and so does all that this starts.
    """
    return ["env", "--default-signal=INT", *command]


def kill_heirs(variable: str) -> None:
    """Kill all other processes whose environment has this one's value of a variable."""
    value = os.environ[variable]
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it has ended, or is somebody else's
            if process.environ().get(variable) == value and process.pid != os.getpid():
                process.kill()
