"""Patterns of names, and names of takes that look like patterns."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.data.name_pattern import NamePattern
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


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("{class}_{person}_{take}", "walk_anna_1", ("walk", "anna")),
        ("{class}_{person}_{take}", "walk_anna_1_b", ("walk", "anna")),
        ("S{person}-{class}", "S7-run", ("run", "7")),
        ("{person} at {day}, {class} (raw)", "Al at home, sit (raw)", ("sit", "Al")),
        ("{class}", "walk_1", ("walk_1", "")),
    ],
)
def test_a_field_ends_where_the_text_behind_it_first_occurs(
    pattern: str, name: str, found: tuple[str, str]
) -> None:
    assert NamePattern(pattern).read(Path(name)) == found


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("{class}_{person}_{take}", "walk_anna"),
        ("{class}_{take}", "_1"),
        ("x{class}", "walk"),
        ("{class} (raw)", "walk (raw) 2"),
    ],
)
def test_a_name_that_is_not_like_the_pattern_is_refused(pattern: str, name: str) -> None:
    with refused_by("data.name_pattern"):
        NamePattern(pattern).read(Path(name))


@pytest.mark.parametrize(
    "pattern", ["", "class", "{class}{take}", "{class}_{class}", "{class}" * 300]
)
def test_a_pattern_without_a_class_or_that_is_ambiguous_is_refused(pattern: str) -> None:
    with refused_by("data.name_pattern"):
        NamePattern(pattern)
