"""What holds for all tests."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from arduino_ide import build_core
from forked_workers import ForkedWorkers
from hypothesis import settings
from kept import KEPT, keep_builds
from programs import kill_heirs
from schedule import (
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_timeout_set_timer,
    pytest_xdist_auto_num_workers,
    pytest_xdist_make_scheduler,
)

from protonn_edge.system.folders import cache_folder
from protonn_edge.system.rounding import fix_rounding
from protonn_edge.system.wording import COMMAND_LINE, PYTHON, speaking

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = [  # hooks
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_timeout_set_timer",
    "pytest_xdist_auto_num_workers",
    "pytest_xdist_make_scheduler",
]

_RUN = "PROTONN_EDGE_TEST_RUN"  # names a folder of this run, which its processes share

# The same examples on every run and no deadline: a test fails by its code, not by chance or load.
settings.register_profile("protonn-edge", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("seeded", deadline=None, print_blob=True)
settings.register_profile("nightly", deadline=None, max_examples=400, print_blob=True)
settings.load_profile("protonn-edge")

# The width of tables that are not printed to a pipe.
os.environ.setdefault("COLUMNS", "80")

# Figures are drawn into files, never onto a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# Tests run in several processes, whose threads of BLAS and OpenMP would spin waiting for a core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Generated C allocates nothing that could leak, and looking for leaks takes half the time of a run
# under sanitizers.
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")

# What tests train is what commands train, which some tests run as programs.
fix_rounding()

# A bug of the package fails a test with its traceback, and is no sentence that a test could take
# for a refusal.
os.environ.setdefault("PROTONN_EDGE_TRACEBACK", "1")

# pytester gives each test a home; in a new home, the emulator would be compiled anew.
os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))

# What compilers made is kept between runs, in the user's cache unless another folder is named.
os.environ.setdefault(KEPT, str(cache_folder() / "test-builds"))
if _RUN not in os.environ:
    _FOLDER = TemporaryDirectory(prefix="protonn-edge-tests-")
    atexit.register(_FOLDER.cleanup)
    os.environ[_RUN] = _FOLDER.name
    # Whatever happened, nothing that tests have started outlives them.
    atexit.register(kill_heirs, _RUN)

# A power failure ends the tests, too; to wait for the disk takes milliseconds for each file.
os.fsync = lambda _: None


@pytest.fixture(autouse=True, scope="session")
def interface() -> Iterator[None]:
    """Have sentences as they are written, for the command line; `advice` tests other interfaces."""
    with speaking(COMMAND_LINE):
        yield


@pytest.fixture
def python_words() -> Iterator[None]:
    """Have sentences in the words of Python."""
    with speaking(PYTHON):
        yield


@pytest.fixture(scope="session", autouse=True)
def _kept_builds() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        keep_builds(patch.setattr)
        patch.setattr("protonn_edge.learn.search.workers.multiprocessing", ForkedWorkers)
        yield


@pytest.fixture(scope="session")
def arduino_core() -> Path:
    """Return the Arduino core for the Uno, compiled once for all tests of sketches."""
    folder = Path(os.environ[_RUN]) / "core"
    folder.mkdir(exist_ok=True)
    return build_core(folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give the system's Chromium, without a window; a process can have only one of these."""
    from system_browser import system_browser  # few tests need it

    with system_browser() as found:
        yield found


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Do not look for garbage among what is imported and collected, which all stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000)
        gc.enable()


def pytest_sessionfinish() -> None:
    """Keep what `make coverage` has measured: a process that takes long to end is killed."""
    if (coverage := sys.modules.get("coverage")) and (measured := coverage.Coverage.current()):
        measured.save()
