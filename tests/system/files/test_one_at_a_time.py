"""One process at a time writes to a project's folder, to results and to a search."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from built_project import write_project
from model_factory import random_model
from programs import started
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.export.folder import write_folder
from protonn_edge.codegen.projects.folder import exclusive
from protonn_edge.codegen.projects.project import build
from protonn_edge.device.results import Origin, ResultsFile
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.learn.search.store import SearchFile
from protonn_edge.system.errors import InputError

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no locks of this kind: run it elsewhere"
)
HOLDS = """
import os, sys
from pathlib import Path
from protonn_edge.system.folders import locked_folder, try_lock
path = Path(sys.argv[1])
if path.is_dir():
    held = locked_folder(path)
    held.__enter__()
else:
    assert try_lock(os.open(path, os.O_RDWR))
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another_process(path: Path) -> Iterator[None]:
    """Have another process hold a lock, and kill it at the end."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started(sys.executable, "-c", HOLDS, path, **pipes) as process:
        assert process.stdout.readline() == b"held\n"
        yield


def test_a_second_build_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    with held_by_another_process(folder):
        with pytest.raises(InputError, match=f"{folder}: in use by another 'build'"):
            build(random_model(), load_board("uno"), folder)
        assert not list(folder.iterdir())
    with exclusive(folder):  # the process was killed, and the lock went with it
        pass


def test_a_second_hil_is_refused(tmp_path: Path) -> None:
    model = random_model()
    project = write_project(model, tmp_path / "project")
    points = (np.zeros((2, model.n_features), np.float32), np.zeros(2, np.int64))
    with (
        held_by_another_process(project.folder),
        pytest.raises(InputError, match="in use by another 'build', 'export' or 'hil'"),
    ):
        measure(project, points, load_board("uno"))
    assert not (project.folder / ".pio").exists()


def test_a_second_export_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    write_folder(folder, {"a.c": "int a;"})
    with held_by_another_process(folder):
        with pytest.raises(InputError, match=f"{folder}: in use by another 'build', 'export'"):
            write_folder(folder, {"b.c": "int b;"})
        assert (folder / "a.c").exists()
    write_folder(folder, {"b.c": "int b;"})
    assert not (folder / "a.c").exists()


def test_a_second_run_does_not_write_the_same_results(tmp_path: Path) -> None:
    path, origin = tmp_path / "results.csv", Origin("a" * 16, "b" * 16, 9)
    with ResultsFile(path, origin, ("a", "b")):
        before = path.read_bytes()
        with pytest.raises(InputError, match="another run is writing to"):
            ResultsFile(path, origin, ("a", "b", "c"))
        assert path.read_bytes() == before
    with ResultsFile(path, origin, ("a", "b")):
        pass


def test_a_second_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "search.jsonl"
    path.touch()
    with (
        held_by_another_process(path),
        refused_by("system.files"),
        SearchFile(path, {}),
    ):
        pass


def test_a_folder_that_was_made_for_a_build_that_failed_goes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stopped"), exclusive(tmp_path / "new" / "project"):
        raise ValueError("stopped")
    assert not list(tmp_path.iterdir())
