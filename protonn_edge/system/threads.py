"""One thread for the libraries that bring their own: faster for small products, and repeatable."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS and OpenMP use one thread, so that sums have one order."""
    limited: AbstractContextManager[object] = _libraries().limit(limits=1)
    return limited


@functools.cache
def _libraries() -> ThreadpoolController:
    """Look for the libraries once, when all that computes is loaded: it takes milliseconds."""
    return ThreadpoolController()
