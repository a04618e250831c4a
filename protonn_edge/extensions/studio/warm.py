"""The helper of the studio: it imports what commands need, and forks for each command.

It gets the words of a command, its standard output and its standard error over a socket, and
answers with the process id and, at the end, with the exit code. It ends with the socket.

It runs on Linux only. It has no threads, since commands are imported with one thread per library,
so that a fork is safe.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys

from protonn_edge.cli import main
from protonn_edge.system.errors import Interrupted
from protonn_edge.system.starting import heed

ANSWER_BYTES = 40
REQUEST_BYTES = 1 << 17
_COMMANDS = ("windows", "train", "build", "hil", "report", "takes", "export", "data")
_LATER = (  # what these commands import when they run, with the libraries that take long
    *("cli.training", "data.points.drift", "kinds.protonn.train.classifier", "report.page"),
    *("features.window_features.making", "features.window_features.train", "model.sensor_counts"),
    *("cli.progress", "policy.value.steps", "policy.rejection.steps", "policy.label_sets.train"),
    *("kinds.linear.train", "kinds.forest.train"),
)


def _serve(line: socket.socket) -> int:
    """Fork for each command; return the exit code, in the forked process that of the command."""
    while True:
        request, given, *_ = socket.recv_fds(line, REQUEST_BYTES, 2)
        if not request:
            return 0
        printed, said = given
        pid = os.fork()
        if pid == 0:
            line.close()
            return _run(json.loads(request), printed, said)
        os.close(printed)
        os.close(said)
        line.send(str(pid).encode())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):  # the studio has ended
            line.send(str(code).encode())


def _run(words: list[str], printed: int, said: int) -> int:
    """Run a command in this process as if it had been started for it."""
    os.setsid()
    for given, own in ((printed, sys.stdout), (said, sys.stderr)):
        os.dup2(given, own.fileno())
        os.close(given)
    # The old ones believe that they write to what the helper was started with.
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    sys.argv = ["protonn-edge", *words]
    heed(by_exception=False)  # until the command runs
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # which may have come already
        main()
    except KeyboardInterrupt:
        return Interrupted.exit_code
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def _import() -> None:
    for name in _COMMANDS:
        main.get_command(None, name)  # type: ignore[arg-type]
    for module in _LATER:
        importlib.import_module(f"protonn_edge.{module}")
    gc.freeze()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it is for commands
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        _import()
        sys.exit(_serve(asked))
