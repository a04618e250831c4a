"""Patterns of names, names of takes that look like patterns, and texts that repeat."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.data.reading import load_dataset
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.takes.name_pattern import NamePattern
from protonn_edge.system.shell import WINDOWS


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
    with refused_by("data.takes.name_pattern"):
        NamePattern(pattern).read(Path(name))


@pytest.mark.parametrize(
    "pattern", ["", "class", "{class}{take}", "{class}_{class}", "{class}" * 300]
)
def test_a_pattern_without_a_class_or_that_is_ambiguous_is_refused(pattern: str) -> None:
    with refused_by("data.takes.name_pattern"):
        NamePattern(pattern)


def test_texts_that_repeat_are_held_once() -> None:
    texts = Coded.repeated([("a", 3), ("none", 0), ("b", 2)])
    assert list(texts) == ["a", "a", "a", "b", "b"] == list(texts[:])
    assert (len(texts), texts[2], texts[3], texts[-1]) == (5, "a", "b", "b")
    assert texts.runs == Coded.of(list(texts)).runs == [("a", 3), ("b", 2)]
    assert texts.used == ["a", "b"]
    assert (len(Coded.of([])), Coded.of([]).runs) == (0, [])
    with pytest.raises(IndexError):
        texts[5]


@pytest.mark.skipif(WINDOWS, reason="makes a named pipe: run it on Linux or macOS")
def test_a_pipe_among_tables_is_refused_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n")
    os.mkfifo(tmp_path / "b.csv")
    with refused_by("system.files"):
        load_dataset(tmp_path)


@pytest.mark.parametrize("content", [b"PK\3\4", b"x,label\n\0,a\n"])
def test_tables_of_a_folder_are_text(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_bytes(content)
    with refused_by("data.tables.text"):
        load_dataset(tmp_path)
