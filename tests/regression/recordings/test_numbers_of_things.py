"""Sentences said "1 takes"."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import succeed

from protonn_edge.errors import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 takes"), (1, "1 take"), (2, "2 takes"), (2000, "2,000 takes")]
)
def test_one_thing_is_no_things(number: int, said: str) -> None:
    assert counted(number, "take") == said


def test_windows_say_what_is_one(tmp_path: Path) -> None:
    rows = [f"{i * 20 + 500 * (i >= 60)},{i % 7},walk" for i in range(100)]
    (tmp_path / "r.csv").write_text("ms,x,label\n" + "\n".join(rows) + "\n")
    done = succeed("windows", tmp_path / "r.csv", "-o", tmp_path / "w.npz", "--window", 50)
    assert "1 gap in time; no window spans a gap" in done.output
    assert "samples of 1 channel: x" in done.output
    assert "1 of 2 runs of equal labels is shorter than a window and left out" in done.output
