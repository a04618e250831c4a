"""Processes of a search, forked from one that has imported what all of them need.

A search begins each of its processes anew, which imports scikit-learn and Optuna for two seconds.
The searches of tests fork them instead, where the system can, with the environment that the tests
began with. A search in a program of its own, such as those of `tests/cli/test_tune.py`, begins them
as users have it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from unittest.mock import patch

_NEEDED = ["protonn_edge.learn.search.workers", "protonn_edge.learn.base"]
_ENVIRONMENT = dict(os.environ)


class ForkedWorkers:
    """What takes the place of `multiprocessing` where a search begins its processes."""

    parent_process = staticmethod(multiprocessing.parent_process)

    @staticmethod
    def get_context(method: str) -> BaseContext:
        """Return what begins processes, by the method that is asked for where none can fork."""
        if "forkserver" not in multiprocessing.get_all_start_methods():
            return multiprocessing.get_context(method)
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_NEEDED)
        usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a search does for its processes
        try:
            with patch.dict(os.environ, _ENVIRONMENT, clear=True):
                forkserver.ensure_running()
        finally:
            signal.signal(signal.SIGINT, usual)
        return context
