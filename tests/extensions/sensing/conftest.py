"""Listeners to lines in a time of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from extensions.sensing.lines import Line

OnALine = Callable[..., Any]


@pytest.fixture
def on_a_line(monkeypatch: pytest.MonkeyPatch) -> OnALine:
    """Give a function that makes a listener, and waits for the board, by the time of its line."""

    def make(kind: Callable[..., Any], *pieces: bytes, wait: bool = True, **of_line: Any) -> Any:
        line = Line(*pieces, **of_line)
        monkeypatch.setattr(time, "monotonic", lambda: line.now)
        listener = kind(line, "there")
        if wait:
            listener.wait()
        return listener

    return make
