"""Ctrl-C during a training: the first one ends it after the current epoch, a second one at once.

The signal handler of the first one only sets a flag, which is read between epochs: an exception
that a handler raises may fire anywhere, for instance inside scikit-learn. While there is no model
to keep, Ctrl-C ends the command at once, as anywhere else.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from protonn_edge.errors import Interrupted
from protonn_edge.training.progress import TrainingStopped

_NOTED = b"\nstopping after this epoch or fit; another Ctrl-C ends the command at once\n"


class StopRequest:
    """The flag of a training.

    Attributes
    ----------
    made : bool
        Whether Ctrl-C was pressed.
    can_wait : bool
        Whether an epoch was finished, so that there is something to keep; the training sets it.
    """

    def __init__(self) -> None:
        self.made = False
        self.can_wait = False

    def check(self, *, last: bool = False) -> None:
        """Stop the training if that was requested; to be called after each epoch.

        Parameters
        ----------
        last : bool
            Whether it was the last epoch of all, after which there is nothing to stop.

        Raises
        ------
        TrainingStopped
            If Ctrl-C was pressed.
        """
        if self.made and not last:
            raise TrainingStopped


@contextmanager
def stopped_by_ctrl_c() -> Iterator[StopRequest]:
    """Have the first Ctrl-C set the flag of a training.

    Raises
    ------
    Interrupted
        If Ctrl-C was pressed before an epoch was finished.
    """
    request = StopRequest()
    handler = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    usual = handler if callable(handler) and in_main_thread else None

    def note(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, usual)
        if usual is not None and not request.can_wait:
            usual(number, frame)
        request.made = True
        with suppress(OSError):  # `print` must not be called again while it is running
            os.write(sys.stderr.fileno(), _NOTED)

    try:
        if usual is not None:
            signal.signal(signal.SIGINT, note)
        yield request
    except KeyboardInterrupt:
        if request.can_wait:
            raise
        raise Interrupted("stopped before an epoch was finished; nothing is written") from None
    finally:
        if usual is not None:
            signal.signal(signal.SIGINT, usual)
