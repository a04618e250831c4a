"""Which process runs which tests, and in what order; how a test ends that hangs or dies."""

from __future__ import annotations

import compileall
import signal
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "protonn_edge"

# What takes longest: a process that began it last would be the only one that still runs.
_LONGEST_FIRST = (
    *("laws/docs/test_blocks", "codegen/words/test_kernels", "laws/conformance"),
    *("kinds/test_command", "report/web", "codegen/export", "laws/docs/test_site", "laws/corpus"),
    *("extensions/proof/equality", "extensions/agents", "extensions/lab/bench", "laws/faults"),
    *("chips/emulator", "extensions/proof/agreement", "extensions/arduino"),
    *("device/test_uploaded", "learn/tuning/test_dask", "laws/fuzz", "laws/docs"),
    *("extensions/sensing/export", "cli/test_commands", "extensions/proof", "cli/test_tune"),
    *("chips/firmware", "cli/test_best", "chips/toolchain", "learn/advice"),
    *("extensions/observation", "kinds/forest/test_floats", "model/test_every_file", "kinds"),
    *("learn/tuning", "laws/wheel", "laws/portability", "extensions/pico", "extensions/teaching"),
    *("policy/test_every_rule", "cli/test_start", "extensions/studio"),
    *("extensions/research/basis_images", "learn/test_types"),
)

# Folders whose files run in one process, because they share what takes long to make: programs and
# what the emulator says of them, emulators compiled anew, the Arduino core, a browser's pages.
_TOGETHER = (
    *("laws/conformance", "chips/emulator", "codegen/export", "chips/firmware", "report/web"),
    *("extensions/pico", "extensions/proof/agreement", "extensions/sensing/export"),
)
_FOLDERS_TOGETHER = {f"tests/{name}" for name in _TOGETHER}


def pytest_configure(config: pytest.Config) -> None:
    """Leave the order of files to the hook below; prepare what all processes import."""
    config.option.loadscopereorder = False
    # The package is no test, although pytest finds a plugin in it.
    config.pluginmanager.rewrite_hook._must_rewrite.discard(PACKAGE.name)
    config.pluginmanager.rewrite_hook._marked_for_rewrite_cache.clear()
    worker = getattr(config, "workerinput", None)
    if worker is not None and not sys.dont_write_bytecode:
        _compile_share(config, int(worker["workerid"].removeprefix("gw")), worker["workercount"])


def _compile_share(config: pytest.Config, number: int, count: int) -> None:
    """Compile a process's share of all modules.

    In a new checkout, each process would compile all of them, at the same time as the others.
    """
    for path in sorted(PACKAGE.rglob("*.py"))[number::count]:
        compileall.compile_file(path, quiet=2)
    for path in sorted(TESTS.rglob("test_*.py"))[number::count]:
        folder = rewrite.get_cache_dir(path)
        compiled = folder / f"{path.stem}{rewrite.PYC_TAIL}"
        if rewrite._read_pyc(path, compiled) is None and rewrite.try_makedirs(folder):
            digest, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, compiled)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, and those of some folders."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            folder = file.rpartition("/")[0]
            return folder if folder in _FOLDERS_TOGETHER else file

        def remove_node(self, node: Any) -> str | None:
            """Return the test in which a process died, and leave the rest of its tests to others.

            pytest-xdist would run this test again in one process after the other, and wait for ever
            for a process that is given a file whose tests have all been run.
            """
            units = self.assigned_work[node]
            left = [(unit, test) for unit in units.values() for test in unit if not unit[test]]
            for unit, test in left[:1]:
                unit[test] = True
            for name in [name for name, unit in units.items() if all(unit.values())]:
                del units[name]
            super().remove_node(node)
            return left[0][1] if left else None

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


class TookTooLong(BaseException):
    """A test has reached its limit; Hypothesis takes any other failure for one of its examples."""


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_timeout_set_timer() -> Generator[None, object, object]:
    """Have the limit of a test end also what catches failures to try something else."""
    done = yield
    fail = signal.getsignal(signal.SIGALRM)

    def end(*signal_and_frame: Any) -> None:
        try:
            fail(*signal_and_frame)
        except pytest.fail.Exception as error:
            raise TookTooLong(error) from None

    if callable(fail):  # in the main thread
        signal.signal(signal.SIGALRM, end)
    return done


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files in front that take long, then those with many tests."""
    files = [item.nodeid.partition("::")[0] for item in items]
    order = {
        # the boards that hil_tests/ emulates stay on until the end
        name: (name.startswith("hil_tests/"), _place(name), -count, name)
        for name, count in Counter(files).items()
    }
    places = sorted(range(len(items)), key=lambda place: order[files[place]])
    items[:] = [items[place] for place in places]


def _place(file: str) -> int:
    """Return a file's place among those that take longest, or the number behind their last."""
    name = file.removeprefix("tests/")
    places = (n for n, long in enumerate(_LONGEST_FIRST) if name.startswith(long))
    return next(places, len(_LONGEST_FIRST))


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Run the tests in a process more than there are cores: some wait, as for a sensor's samples.

    Each process imports and collects everything, which takes as long as hundreds of tests.
    """
    return (yield) + 1
