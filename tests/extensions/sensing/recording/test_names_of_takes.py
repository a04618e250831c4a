"""Names of takes that are unlike each other are taken as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from protonn_edge.data.options import TableOptions
from protonn_edge.extensions.sensing.recordings.recorded import Recording, read_recording


def folder_of(tmp_path: Path, names: list[str]) -> Path:
    for name in names:
        (tmp_path / f"{name}.csv").write_text("x,y\n" + "1,2\n3,5\n" * 10)
    return tmp_path


def read(folder: Path, name: str | None = None) -> Recording:
    return read_recording(folder, TableOptions(name=name))


def warnings_of(recording: Recording) -> list[str]:
    return [each.text for each in recording.dataset.notices if each.kind == "names"]


@pytest.mark.parametrize(
    "names",
    [
        ["a_1", "b_2", "c_3"],  # few
        ["left_hand", "right_foot", "both_ears", "no_nose"],  # no first part occurs twice
        ["walk_1", "walk_2", "run_a_1", "run_2"],  # unlike
        ["walk_1", "walk-2", "run_1", "run_2"],  # unlike
        ["rest", "walk", "run", "jump"],
    ],
)
def test_other_names_are_taken_as_they_are(tmp_path: Path, names: list[str]) -> None:
    assert not warnings_of(read(folder_of(tmp_path, names)))
