"""What writes files keeps the law of ``file_operations``: some operations of each command.

All operations of what commands write with are tried here.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from avr_tools import EMULATED_AVR, needs
from command_line import skip_unless_known
from laws.faults.file_operations import (
    BROKEN,
    FAULTS,
    FULL,
    KILL,
    Injector,
    Law,
    Written,
    sampled,
    tree,
)
from laws.faults.writing_commands import COMMANDS, warmed_up

from protonn_edge.codegen.export.folder import MANIFEST, check_folder, write_folder
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import AppendedFile, write_atomically, write_together

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks into /proc: run it on Linux"
)
MANY = 15  # operations of a writer
_LOG, _LIST = "log", f"library/{MANIFEST}"


@pytest.fixture(scope="module", autouse=True)
def _warm() -> Iterator[None]:
    warmed_up()
    with pytest.MonkeyPatch.context() as patch:
        # A search then writes its files without other processes, which each import all libraries.
        patch.setenv("LOKY_MAX_CPU_COUNT", "1")
        yield


@needs(*EMULATED_AVR)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_fault_leaves_nothing_half_written_and_the_next_run_goes_on(
    command: Written, tmp_path: Path
) -> None:
    skip_unless_known(command.arguments)
    law = Law(command, tmp_path)
    seed = zlib.crc32(command.name.encode())
    fault = FAULTS[seed % len(FAULTS)]
    for at in sampled(law.places(fault), 1, seed):
        assert not law.broken(fault, at)
    for at in sampled(law.places(KILL), 1, seed + 1):
        assert not law.broken(KILL, at)


# --- what commands write with ---------------------------------------------------------------------


def _over_older_files(folder: Path) -> None:
    write_together(folder / "project", {"a": "new", "src/b": "new", "src/c": "new"})


def _over_an_older_export(folder: Path) -> None:
    write_folder(folder / "library", {"a.txt": "new", "src/c.h": "new"})


def _one_file(folder: Path) -> None:
    write_atomically(folder / "new" / "file", "new")


def _appended(folder: Path) -> None:
    with AppendedFile(folder / "log") as file:
        file._write(b"new\n")


WRITERS: list[Callable[[Path], None]] = [
    _over_older_files,
    _over_an_older_export,
    _one_file,
    _appended,
]


def _before(folder: Path) -> None:
    write_together(folder / "project", {"a": "old", "src/b": "old"})
    write_folder(folder / "library", {"a.txt": "old", "src/b.c": "old"})
    (folder / "log").write_text("old\n")


def _tried(folder: Path, write: Callable[[Path], None], fault: str, at: int) -> tuple[int, bool]:
    """Write with a fault at an operation; return how many there were, and whether all is done."""
    injector = Injector(folder, fault, at)
    injector.install()
    try:
        write(folder)
    except (InputError, KeyboardInterrupt):
        return len(injector.operations), False
    finally:
        injector.remove()
    return len(injector.operations), True


@pytest.mark.parametrize("fault", [each for each in FAULTS if each != KILL])
@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_files_are_new_or_old_whatever_operation_fails(
    write: Callable[[Path], None], fault: str, tmp_path: Path
) -> None:
    _before(tmp_path / "whole")
    before = tree(tmp_path / "whole")
    number, _ = _tried(tmp_path / "whole", write, "", -1)
    after = tree(tmp_path / "whole")
    assert number > 2
    for at in sampled(range(number), MANY, zlib.crc32(fault.encode())):
        folder = tmp_path / str(at)
        _before(folder)
        _tried(folder, write, fault, at)
        found = tree(folder)
        if fault == BROKEN:  # a scratch folder that cannot be removed goes with the next run
            found = {name: each for name, each in found.items() if ".protonn-edge." not in name}
        for name, content in found.items():
            known = [each[name] for each in (before, after) if name in each]
            assert content in known or name in (_LOG, _LIST), name
        new, old, now = (_own(each) for each in (after, before, found))
        if fault != BROKEN:  # which can also stop the undoing
            assert new.items() <= now.items() or now.items() <= old.items()
        assert {*found} <= {*before} | {*after}
        check_folder(folder / "library")  # it can be exported again
        write(folder)
        assert not list(folder.rglob(".protonn-edge.*"))
        assert _own(tree(folder)) == new


def _own(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files that are as they were written; a line of others may be cut."""
    return {name: content for name, content in files.items() if name not in (_LOG, _LIST)}


def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path: Path) -> None:
    injector = Injector(tmp_path)
    injector.install()
    write_atomically(tmp_path / "file", "content")
    injector.remove()
    kept = [each for each in injector.operations if each in ("write", "fsync", "rename")]
    assert kept == ["write", "fsync", "rename", "fsync"]
    assert sys.platform != "win32"


def test_a_full_disk_stays_full(tmp_path: Path) -> None:
    injector = Injector(tmp_path, FULL, 0)
    injector.install()
    for _ in range(2):
        with pytest.raises(InputError, match="No space left on device"):
            write_atomically(tmp_path / "file", "content")
    injector.remove()
    assert not list(tmp_path.iterdir())
