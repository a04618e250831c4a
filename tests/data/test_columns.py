"""What ``data`` prints of a table, and the options that it suggests."""

from __future__ import annotations

import csv
import os
import random
import subprocess
from ast import literal_eval
from pathlib import Path

import pytest
from command_line import succeed

from protonn_edge.data.options import options_of
from protonn_edge.data.reading import load_dataset
from protonn_edge.system.wording import COMMAND_LINE, PYTHON, speaking


def test_the_table_is_printed(tmp_path: Path) -> None:
    rows = [f"{'' if row % 10 == 3 else row % 9 + 0.5},7,{'ab'[row % 2]}" for row in range(60)]
    (tmp_path / "d.csv").write_text("\n".join(["temp [°C],fixed,label", *rows]) + "\n")
    lines = [line.split() for line in succeed("data", tmp_path / "d.csv").stdout.splitlines()]
    temp = ["temp", "[°C]", "feature", "number", "6", "9", "0.5", "to", "8.5"]
    assert any(line[: len(temp)] == temp for line in lines)
    assert ["fixed", "feature", "number", "1", "always", "7"] in lines


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("name", ["sample #", "it's", "$HOME", 'a "b"', "a,b", "x;y", "(C)", "*"])
def test_a_suggested_option_can_be_pasted_into_a_shell(tmp_path: Path, name: str) -> None:
    path = tmp_path / "d.csv"
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerows([[name, "x", "label"], *([n, n * 7 % 11, "ab"[n % 2]] for n in range(40))])
    with speaking(COMMAND_LINE):
        (notice,) = (each for each in load_dataset(path).notices if each.kind == "left_out")
    words = notice.text.partition("; ")[2].removesuffix(" uses it")
    shown = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {words}"], capture_output=True, text=True, check=True
    )
    flag, option = shown.stdout.splitlines()
    assert flag == "--keep"
    assert load_dataset(path, options_of({"keep": [option]})).feature_names == (name, "x")
    keep = PYTHON.worded(notice.text).partition("; keep=")[2].removesuffix(" uses it")
    assert load_dataset(path, keep=literal_eval(keep)).feature_names == (name, "x")


@pytest.mark.parametrize("columns", ["", "80"])
def test_a_pipe_gets_tables_in_full_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.delenv("COLUMNS")
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    names = [f"class {random.Random(number).random()}" for number in range(12)]
    rows = [f"{row},{row % 7},{names[row % 12]}" for row in range(120)]
    (tmp_path / "d.csv").write_text("\n".join(["x,y,label", *rows]) + "\n")
    said = succeed("data", tmp_path / "d.csv").stdout.splitlines()
    (line,) = (each for each in said if "12 classes" in each)
    assert all(name in line for name in names) != bool(columns)
