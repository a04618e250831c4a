"""Make float sums round alike on all x86-64 processors, so that a seed gives one model.

With one thread per library, sums are also added in one order.

NumPy and its OpenBLAS choose their loops by the processor: wider registers add in another order,
and in training a different last bit leads to a different model. The loops for AVX2 and FMA run on
nearly every x86-64 processor since 2015, and train no slower than those for AVX-512.
"""

from __future__ import annotations

import functools
import os
import sys
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_LOOPS = {
    "OPENBLAS_CORETYPE": "Haswell",
    # The cache of a Haswell, in kB. For the larger one of a newer processor, OpenBLAS 0.3.34 (in
    # NumPy 2.5) chooses blocks of matrices with which these loops write beyond the stack.
    "OPENBLAS_L2_SIZE": "256",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4",
}
_PROCESSOR = Path("/proc/cpuinfo")


def fix_rounding() -> None:
    """Choose the AVX2 loops by environment variables that NumPy and OpenBLAS read when loaded.

    Variables that are already set stay unchanged. Nothing is chosen if NumPy is already loaded, or
    if `has_common_loops` is false.
    """
    if "numpy" not in sys.modules and has_common_loops():
        for name, value in _LOOPS.items():
            os.environ.setdefault(name, value)


def has_common_loops() -> bool:
    """Return whether this is Linux on x86-64 with AVX2 and FMA, and NumPy is from a wheel.

    A NumPy compiled for one processor may refuse to load without that processor's loops. A NumPy
    from a wheel has a folder of libraries next to it.
    """
    spec = find_spec("numpy")
    places = (spec and spec.submodule_search_locations) or ["numpy"]
    try:
        with _PROCESSOR.open(encoding="utf-8") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return False
    return {"avx2", "fma"} <= {*flags.split()} and Path(f"{places[0]}.libs").is_dir()


def one_thread() -> AbstractContextManager[object]:
    """Return a context with one thread for BLAS and OpenMP: sums have one order, and cost less."""
    limited: AbstractContextManager[object] = _threads().limit(limits=1)
    return limited


@functools.cache
def _threads() -> Any:
    """Find the libraries once, after all are loaded; the search takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
