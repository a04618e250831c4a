"""Folders of takes whose names have the class, the person and the take in parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import Recording, read_recording
from protonn_edge.datasets.takes import NamePattern

NAMES = [f"{what}_{who}_{n}" for what in ("walk", "run") for who in ("anna", "ben") for n in (1, 2)]


def folder_of(tmp_path: Path, names: list[str]) -> Path:
    for name in names:
        (tmp_path / f"{name}.csv").write_text("x,y\n" + "1,2\n3,5\n" * 10)
    return tmp_path


def read(folder: Path, name: str | None = None) -> Recording:
    return read_recording(folder, TableOptions(name=name))


def warnings_of(recording: Recording) -> list[str]:
    return [each.text for each in recording.dataset.notices if each.kind == "names"]


def test_a_pattern_takes_classes_and_groups_from_parts_of_names(tmp_path: Path) -> None:
    recording = read(folder_of(tmp_path, NAMES), "{class}_{person}_{take}")
    assert recording.dataset.classes == ("run", "walk")
    assert recording.groups is not None
    assert set(recording.groups) == {"anna", "ben"}
    assert not warnings_of(recording)


def test_without_other_fields_each_file_is_a_group(tmp_path: Path) -> None:
    recording = read(folder_of(tmp_path, NAMES), "{class}_{take}")
    assert recording.groups is not None
    assert len(set(recording.groups)) == len(NAMES)


def test_classes_of_one_file_each_are_said_with_the_likely_pattern(tmp_path: Path) -> None:
    recording = read(folder_of(tmp_path, NAMES))
    assert len(recording.dataset.classes) == 8
    (text,) = warnings_of(recording)
    assert "each of the 8 files has its own class" in text
    assert "--read name='{class}_{person}_{take}'" in text


def folders_of(tmp_path: Path, names: list[str]) -> Path:
    for label in ("run", "walk"):
        (tmp_path / label).mkdir()
        folder_of(tmp_path / label, names)
    return tmp_path


def test_names_that_begin_alike_in_several_classes_may_be_persons(tmp_path: Path) -> None:
    folder = folders_of(tmp_path, ["anna-1", "anna-2", "ben-1", "ben-2"])
    (text,) = warnings_of(read(folder))
    assert "if 'anna', 'ben' are persons, give --read name='{person}-{take}'" in text
    named = read(folder, "{person}-{take}")
    assert named.groups is not None
    assert set(named.groups) == {"anna", "ben"}
    assert not warnings_of(named)


@pytest.mark.parametrize("names", [["take_1", "take_2", "take_3"], ["a", "b"], ["a_1", "b_1"]])
def test_other_names_in_folders_of_classes_are_no_persons(tmp_path: Path, names: list[str]) -> None:
    assert not warnings_of(read(folders_of(tmp_path, names)))


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
    with refused_by("datasets.takes"):
        NamePattern(pattern).read(Path(name))


@pytest.mark.parametrize(
    "pattern", ["", "class", "{class}{take}", "{class}_{class}", "{class}" * 300]
)
def test_a_pattern_without_a_class_or_that_is_ambiguous_is_refused(pattern: str) -> None:
    with refused_by("datasets.takes"):
        NamePattern(pattern)
