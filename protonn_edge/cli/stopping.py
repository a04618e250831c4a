"""What ends a command in good order; Ctrl-C within a second, even within a call of a library.

Python heeds Ctrl-C between two of its own instructions, but a call of a library, such as the fit of
a large tree, may take longer. If Python does not come to an instruction soon, the process ends at
once. What it has started then ends, too, and no file is half written, as after SIGKILL.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from click import ClickException

from protonn_edge.system.starting import heed

_PATIENCE_S = 0.7
_WRITE_BEFORE = {"tune"}  # the best model so far, however long that takes


@contextmanager
def heeding_signals(stopped: Callable[[], ClickException], command: str | None) -> Iterator[None]:
    """Let signals end a command, which runs in the main thread; at once if Ctrl-C is not heeded."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heed(by_exception=True)
    # So that child processes are ended and scratch folders removed.
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP, and nohup ignores it
        number = getattr(signal, name, signal.SIGTERM)
        if signal.getsignal(number) != signal.SIG_IGN:
            # with the exit code that shells report
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    if command in _WRITE_BEFORE:
        yield
        return
    woken, waking = os.pipe()
    if sys.platform != "win32":  # which has no such pipes
        os.set_blocking(waking, False)
    before = signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(woken, stopped), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(waking)  # which ends the thread


def _watch(woken: int, stopped: Callable[[], ClickException]) -> None:
    while signals := os.read(woken, 64):
        if signal.SIGINT in signals and not _is_heeded():
            failed = stopped()
            failed.show()
            os._exit(failed.exit_code)
    os.close(woken)


def _is_heeded() -> bool:
    """Return whether Python's main thread soon comes to an instruction, which heeds signals."""
    heeded = threading.Event()

    def note(_: object) -> int:
        heeded.set()
        return 0

    called = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(note)
    ctypes.pythonapi.Py_AddPendingCall(called, None)
    return heeded.wait(_PATIENCE_S)
