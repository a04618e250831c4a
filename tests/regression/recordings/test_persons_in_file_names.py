"""Folders of classes with persons in the names of files, and one line for rates of many files."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run, succeed
from refusals import refuses

from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import read_recording


def folder_of(folder: Path, names: list[str]) -> Path:
    for number, name in enumerate(names):
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = (f"{n * (0.02 + number * 1e-4):.5f},{n % 7},{n % 5}" for n in range(60))
        path.write_text("\n".join(["Time (s),ax,ay", *rows]) + "\n")
    return folder


TAKES = [
    f"{what}/{who}_{n}" for what in ("lift", "rest") for who in ("anna", "ben") for n in (1, 2)
]


@pytest.mark.parametrize("pattern", ["{person}_{take}", "{class}/{person}_{take}"])
@pytest.mark.parametrize("part", ["", "training/"])
def test_folders_give_the_class_and_names_the_person(
    tmp_path: Path, pattern: str, part: str
) -> None:
    folder = folder_of(tmp_path / "lots", [part + name for name in TAKES])
    found = read_recording(folder, TableOptions(name=pattern))
    assert found.dataset.classes == ("lift", "rest")
    assert found.groups is not None
    assert set(found.groups) == {"anna", "ben"}


@pytest.mark.parametrize("pattern", ["{person}_{take}", "{class}/{person}_{take}"])
def test_without_folders_the_name_must_have_the_class(tmp_path: Path, pattern: str) -> None:
    folder = folder_of(tmp_path / "lots", ["anna_1", "ben_1"])
    options = "-o", tmp_path / "w.npz", "--window", 10, "--read", f"name={pattern}"
    refuses(run("windows", folder, *options), "datasets.takes")


def test_the_rates_of_many_files_are_one_line(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "lots", TAKES)
    done = succeed("windows", folder, "-o", tmp_path / "w.npz", "--window", 10)
    assert done.stderr.count("samples a second") == 1
    assert "48.31 to 50 samples a second, computed from times in seconds" in done.stderr
