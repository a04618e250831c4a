"""A board on the end of a line that is none: what it sends, and when it ends, a test decides."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from protonn_edge.device.protocol import encode_message
from protonn_edge.extensions.sensing.sensor_board import LoggerDescription, SamplesMessage

DESCRIPTION = LoggerDescription(1, 3, 6, 1, 160_000, 16_000_000, bytes(6))
FRAME = 10  # samples


class Board:
    """A source of samples, as fast as they are read; a test decides when they end."""

    emulate, sensors = False, ()

    def __init__(self) -> None:
        self.ends: Exception | None = None
        self.next = 0
        self.silent = threading.Event()

    @contextlib.contextmanager
    def heard(self, *arguments: Any, **_: Any) -> Iterator[tuple[str, Any]]:
        recorder = arguments[1](self, "board")
        recorder.wait()
        yield "board", recorder

    def read(self, wait_s: float) -> bytes:
        if self.ends is not None:
            raise self.ends
        if self.silent.is_set():
            time.sleep(min(wait_s, 0.01))
            return b""
        if not self.next:
            self.next = 1
            return encode_message(DESCRIPTION, 0)
        time.sleep(0.002)
        first, self.next = self.next, self.next + FRAME
        values = np.arange(first, first + FRAME)[:, None] + np.arange(6)
        content = values.astype("<i2").tobytes()
        return encode_message(SamplesMessage(first, 0, content), 1)
