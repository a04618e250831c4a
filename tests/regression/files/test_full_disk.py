"""A full disk, or a stopped run, leaves what was there; a full disk gives one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc
from extension_parts import needs
from model_factory import random_model
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.project import build
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import write_atomically, write_together

DEADLINE_S = 60
LIMITED = """
import resource, sys
from protonn_edge.cli import main
sys.dont_write_bytecode = True  # it would be cut, and the next process that imports it would fail
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), -1))
sys.argv[:2] = ["protonn-edge"]
main()
"""


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b"folder"
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("failing", ["0.new", "2.new", "1.old"])
def test_a_write_that_fails_leaves_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    write_together(tmp_path / "folder", {"a": "1", "src/b": "2"})
    before = tree(tmp_path)
    whole = Path.open

    def full_disk(path: Path, *arguments: object, **settings: object) -> object:
        if path.name == failing:
            raise OSError(28, "No space left on device")
        return whole(path, *arguments, **settings)  # type: ignore[arg-type, call-overload]

    def full_copy(_: Path, target: Path) -> None:
        if target.name == failing:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", full_disk)
    monkeypatch.setattr("shutil.copy2", full_copy)
    with refused_by("system.files"):
        write_together(tmp_path / "folder", {"a": "9", "src/b": "9", "new/c": "9"})
    monkeypatch.undo()
    assert tree(tmp_path) == before


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt(), SystemExit()])
def test_a_rename_that_fails_takes_the_earlier_ones_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    write_together(tmp_path / "folder", {"a": "1", "src/b": "2"})
    before = tree(tmp_path)
    rename = Path.replace

    def failing(path: Path, target: Path) -> Path:
        if path.name == "2.new":
            raise error
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(InputError if isinstance(error, OSError) else type(error)):
        write_together(tmp_path / "folder", {"new/c": "9", "a": "9", "src/b": "9"})
    assert tree(tmp_path) == before


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt(), SystemExit()])
def test_a_file_that_cannot_be_finished_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def failing(_: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(InputError if isinstance(error, OSError) else type(error)):
        write_atomically(tmp_path / "new" / "folder" / "a", "1")
    assert not tree(tmp_path)


@needs_avr_gcc
def test_a_build_that_cannot_write_leaves_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, board = tmp_path / "project", load_board("uno")
    build(random_model(seed=1), board, project)
    before = tree(project)
    rename, done = Path.replace, []

    def failing(path: Path, target: Path) -> Path:
        if path.name.endswith(".new"):
            done.append(path)
            if len(done) == 3:
                raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(InputError, match="No space left"):
        build(random_model(seed=2), board, project)
    assert len(done) == 3
    assert tree(project) == before


@needs("conversion")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no files: run it elsewhere")
def test_a_limit_of_file_sizes_is_one_sentence(tmp_path: Path) -> None:
    save_model(random_model(), tmp_path / "model.npz")
    before = tree(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "100", "convert", "model.npz", "-o", "folder"],
        cwd=tmp_path,
        # `make coverage` could not write what it measured.
        env={name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "cannot write folder: File too large" in done.stderr
    assert tree(tmp_path) == before
