"""What holds for all tests."""

from __future__ import annotations

import atexit
import gc
import os
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from kept_programs import KeptPrograms
from replayed_builds import ReplayedBuilds

from protonn_edge.codegen import host
from protonn_edge.system.rounding import fix_rounding
from protonn_edge.toolchain import platformio

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

# What tests train is what commands train, which some tests run as programs.
fix_rounding()

# A bug of the package fails a test with its traceback, and is no sentence that a test could take
# for a refusal.
os.environ.setdefault("PROTONN_EDGE_TRACEBACK", "1")

# PlatformIO compiles what many tests link once: the processes share its cache of object files.
if "PLATFORMIO_BUILD_CACHE_DIR" not in os.environ:
    _OBJECTS = TemporaryDirectory(prefix="protonn-edge-objects-")
    atexit.register(_OBJECTS.cleanup)
    os.environ["PLATFORMIO_BUILD_CACHE_DIR"] = _OBJECTS.name
if "PROTONN_EDGE_REPLAYED_BUILDS" not in os.environ:
    _REPLAYED = TemporaryDirectory(prefix="protonn-edge-builds-")
    atexit.register(_REPLAYED.cleanup)
    os.environ["PROTONN_EDGE_REPLAYED_BUILDS"] = _REPLAYED.name
_BUILDS = Path(os.environ["PROTONN_EDGE_REPLAYED_BUILDS"])


# Few tests that take long: a process that begins them last would be the only one that still runs.
_LONG = (
    *("agreement", "basis_images", "cli/test_best", "cli/test_tune", "cli/test_usps"),
    *("conformance", "docs", "export", "kinds/test_command", "live/test_gesture", "proof"),
    *("toolchain", "tuning", "web", "wheel"),
)
_LONG_FILES = tuple(f"tests/{name}" for name in _LONG)

# Folders whose files run in one process, because they share what takes long to make: programs and
# what the emulator says of them, emulators compiled anew, the Arduino core, a browser's pages.
_TOGETHER = ("agreement", "conformance", "emulator", "export", "firmware", "web")
_FOLDERS_TOGETHER = {f"tests/{name}" for name in _TOGETHER}


def pytest_configure(config: pytest.Config) -> None:
    """Leave the order of files to the hook below."""
    config.option.loadscopereorder = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, and those of some folders."""
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            folder = file.rpartition("/")[0]
            return folder if folder in _FOLDERS_TOGETHER else file

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files in front that take long, and those with many tests."""
    files = [item.nodeid.partition("::")[0] for item in items]
    order = {
        # the boards that hil_tests/ emulates stay on until the end
        name: (name.startswith("hil_tests/"), not name.startswith(_LONG_FILES), -count, name)
        for name, count in Counter(files).items()
    }
    places = sorted(range(len(items)), key=lambda place: order[files[place]])
    items[:] = [items[place] for place in places]


@pytest.fixture(scope="session", autouse=True)
def _replayed_builds() -> Iterator[None]:
    """Let PlatformIO run once for each kind of project; it takes a second before it compiles.

    A program for this computer is compiled once, too.
    """
    kept = KeptPrograms(_BUILDS, host.build_host_executable)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(platformio, "run_within", ReplayedBuilds(_BUILDS, platformio.run_within))
        patch.setattr(host, "build_host_executable", kept)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Do not look for garbage among what is imported and collected, which all stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Run the tests in two processes more than there are cores: many wait for other programs."""
    return (yield) + 2
