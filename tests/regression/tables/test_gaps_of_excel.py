"""Excel's errors for missing values in several languages are gaps."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run_json


@pytest.mark.parametrize("mark", ["#N/A", "#NV", "#N/D"])
def test_excels_mark_of_a_missing_value_is_a_gap(tmp_path: Path, mark: str) -> None:
    rows = (f"{n % 7},{mark if n == 3 else n % 5},{'ab'[n % 2]}" for n in range(60))
    (tmp_path / "t.csv").write_text("\n".join(["x,y,label", *rows]) + "\n")
    found = run_json("data", tmp_path / "t.csv", "--read", "missing=drop")
    assert sum(each["train"] for each in found["classes"]) == 59
