"""Rows of a large table mean the same, however many are taken at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.points.dataset import Table
from protonn_edge.data.roles.table_points import read_table
from protonn_edge.data.tables import columns, table_file
from protonn_edge.system.errors import InputError

PLAIN = "{x};{y};a"
SPECIAL = [
    *("{x};NA;b", "{x};{y};", ";;", "", '{x};"{y}";"a ""b"""', '"{x}";{y};"c\nd"', "x;y;label"),
    *("{x};1e39;a", " {x} ; {y};a b", "{x};0x1f;a", "{x};5 g;a", "{x};1_000;b", "{x};inf;b"),
    *("True;{y};a", "true;FALSE;b", "{x};12_31;a", "off;{y};a", " ;\N{NO-BREAK SPACE}; ", "1;2;3"),
    "\N{ZERO WIDTH NO-BREAK SPACE}1;{y};a",
]


OPTIONS = TableOptions(missing=SHOWN, label="label", delimiter="semicolon")


def read(path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> Table | str:
    """Return a table, or why it is refused."""
    with monkeypatch.context() as patch:
        patch.setattr(table_file, "_ROWS_AT_ONCE", at_once)
        patch.setattr(columns, "_MOST_TEXTS", 6)
        try:
            return read_table(path, options=OPTIONS)
        except InputError as refused:
            return str(refused)


@pytest.mark.parametrize("mark", [".", ","])
@settings(max_examples=40)
@given(
    rows=st.lists(
        st.lists(st.sampled_from([PLAIN] * 20 + SPECIAL), max_size=40)
        | st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=2).map(lambda some: some * 9),
        max_size=2,
    ),
)
def test_parts_of_any_size_are_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, mark: str, rows: list[list[str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "parts.csv"
    lines = ["x;y;label", *[PLAIN] * 8, *(row for some in rows for row in some)]
    numbers = np.random.default_rng(0).normal(0, 9, (len(lines), 2)).tolist()
    text = "\n".join(
        line.format(x=f"{x!r}".replace(".", mark), y=f"{y!r}".replace(".", mark))
        for line, (x, y) in zip(lines, numbers, strict=True)
    )
    path.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        few, all_at_once = (read(path, patch, size) for size in (4, 1 << 20))
    if isinstance(few, str) or isinstance(all_at_once, str):
        assert few == all_at_once
        return
    np.testing.assert_array_equal(few.X, all_at_once.X)
    assert [*few.labels] == [*all_at_once.labels]
    assert few.notices == all_at_once.notices
    assert (few.seams is None) == (all_at_once.seams is None)
    if few.seams is not None:
        np.testing.assert_array_equal(few.seams, all_at_once.seams)


@pytest.mark.parametrize("header", ["x;y;label", "1;2;3"])
def test_names_that_come_again_far_below_are_no_point(tmp_path: Path, header: str) -> None:
    path, points = tmp_path / "joined.csv", ["4;5;a", "6;7;b", "4;7;b", "6;5;b"] * 10
    path.write_text("\n".join([header, *points, header, *points]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_file, "_ROWS_AT_ONCE", 3)
        table = read_table(path, options=TableOptions(label="last"))
    assert len(table.X) == 80
    assert {*table.labels} == {"a", "b"}


def test_null_bytes_far_below_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("x,label\n" + "1,a\n2,b\n" * 2000 + "3,a\0\n")
    with refused_by("data.tables.table_file"):
        read_table(path)
