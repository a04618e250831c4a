"""Ctrl-C goes to the whole terminal: processes of a search print no stack traces, even new ones."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys

import pytest

from protonn_edge.learn.search import workers
from protonn_edge.learn.search.workers import Processes


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT: run it elsewhere")
def test_ctrl_c_does_not_reach_a_process_that_still_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "multiprocessing", multiprocessing)  # begun as users have it
    with Processes(None, 1) as processes:  # type: ignore[arg-type]  # nothing reads it
        answer = processes.submit(None)  # type: ignore[arg-type]
        for number in processes._pool._processes:
            os.kill(number, signal.SIGINT)
        # It lives: this is the job's own error, and no broken pool.
        assert isinstance(answer.exception(timeout=60), TypeError)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())  # here it still does
