"""Folders of tables with a column of labels, one per session, with the person in the name."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run, succeed
from refusals import refuses

from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import Recording, read_recording

SESSIONS = [(who, day) for who in ("anna", "ben", "cleo") for day in ("mon", "thu")]


def folder_of(folder: Path, between: str, labels: str = "ab") -> Path:
    for who, day in SESSIONS:
        path = folder / f"{who}{between}{day}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = (f"{20 * n},{n % 7},{n % 5},{labels[n // 60]}" for n in range(120))
        path.write_text("\n".join(["ms,ax,ay,label", *rows]) + "\n")
    return folder


def groups_of(found: Recording) -> set[str]:
    assert found.groups is not None
    return {group.strip() for group in found.groups}


@pytest.mark.parametrize("between", ["_", "/"])
def test_without_a_pattern_the_files_are_the_groups_and_this_is_said(
    tmp_path: Path, between: str
) -> None:
    folder = folder_of(tmp_path / "logs", between)
    names = {f"{who}{between}{day}.csv" for who, day in SESSIONS}
    assert groups_of(read_recording(folder)) == names
    done = succeed("windows", folder, "-o", tmp_path / "w.npz", "--window", 10)
    assert "each of the 6 files counts as a group" in done.stderr
    assert f"give --read name='{{person}}{between}{{take}}'" in done.stderr
    assert "has its own class" not in done.stderr


@pytest.mark.parametrize("between", ["_", "/"])
@pytest.mark.parametrize("last", ["take", "session"])
def test_a_pattern_makes_the_persons_the_groups(tmp_path: Path, between: str, last: str) -> None:
    folder, pattern = folder_of(tmp_path / "logs", between), f"{{person}}{between}{{{last}}}"
    found = read_recording(folder, TableOptions(name=pattern))
    assert found.dataset.classes == ("a", "b")
    assert groups_of(found) == {"anna", "ben", "cleo"}
    path = tmp_path / "w.npz"
    done = succeed("windows", folder, "-o", path, "--window", 10, "--read", f"name={pattern}")
    assert "3 ('anna', 'ben', 'cleo'), for 'train --groups groups'" in done.stdout
    assert "counts as a group" not in done.stderr


def test_a_pattern_of_flat_files_has_no_folders(tmp_path: Path) -> None:
    folder, path = folder_of(tmp_path / "logs", "_"), tmp_path / "w.npz"
    done = run("windows", folder, "-o", path, "--window", 10, "--read", "name={person}/{take}")
    refuses(done, "datasets.takes")
