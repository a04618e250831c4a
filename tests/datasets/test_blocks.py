"""Rows of a large table mean the same, whether they are parsed many at once or one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protonn_edge.data import cells, tables
from protonn_edge.data.dataset import Table
from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.points import read_table

PLAIN = "{x};{y};a"
SPECIAL = [
    *("{x};NA;b", "{x};{y};", ";;", "", '{x};"{y}";"a ""b"""', '"{x}";{y};"c\nd"', "x;y;label"),
    *("{x};1e39;a", " {x} ; {y};a b", "{x};0x1f;a", "{x};5 g;a", "{x};1_000;b", "{x};inf;b"),
]


def read(path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> Table:
    with monkeypatch.context() as patch:
        patch.setattr(tables, "_BLOCK_CELLS", at_once)
        patch.setattr(cells, "_MOST_TEXTS", 6)
        return read_table(path, options=TableOptions(missing=SHOWN, label="label"))


@pytest.mark.parametrize("mark", [".", ","])
@settings(max_examples=25)
@given(rows=st.lists(st.sampled_from([PLAIN] * 20 + SPECIAL), max_size=40))
def test_blocks_of_any_size_are_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, mark: str, rows: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "blocks.csv"
    lines = ["x;y;label", *[PLAIN] * 8, *rows]
    numbers = np.random.default_rng(0).normal(0, 9, (len(lines), 2)).tolist()
    text = "\n".join(
        line.format(x=f"{x!r}".replace(".", mark), y=f"{y!r}".replace(".", mark))
        for line, (x, y) in zip(lines, numbers, strict=True)
    )
    path.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        few, all_at_once = (read(path, patch, size) for size in (12, 1 << 20))
    np.testing.assert_array_equal(few.X, all_at_once.X)
    assert [*few.labels] == [*all_at_once.labels]
    assert few.notices == all_at_once.notices
    assert (few.seams is None) == (all_at_once.seams is None)
    if few.seams is not None:
        np.testing.assert_array_equal(few.seams, all_at_once.seams)
