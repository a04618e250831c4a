"""What ``data`` lists of a table: all columns at once, and features that give the label away."""

from __future__ import annotations

import csv
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from command_line import run_json, succeed

from protonn_edge.data.leaks import leaks
from protonn_edge.data.options import options_of
from protonn_edge.data.reading import load_dataset

COUNT = 60


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """Give a table with gaps, text, units, a cell that is no number, and a row without a label."""
    lines = []
    for row in range(COUNT):
        temp = "" if row % 10 == 3 else f"{row % 9},5"
        bad = "error" if row == 8 else row % 4
        state = "" if row == 7 else ("OK", "ok", "worn")[row % 3]
        who = ("Ann", "Bo")[row % 2]
        lines.append(f"2026-05-01 10:{row:02};{temp};{bad};7;{who};{state}\n")
    path = tmp_path / "messy.csv"
    path.write_text("\ufeffwhen;temp [°C];load (%);fixed;who;state\n" + "".join(lines))
    return path


def test_all_columns_are_listed_at_once(messy: Path) -> None:
    record = run_json("data", messy)
    found = {each["name"]: each for each in record["columns"]}
    assert [each["role"] for each in record["columns"]] == [
        "time",
        "feature",
        "feature",
        "feature",
        "text",
        "label",
    ]
    temp = {
        "name": "temp [°C]",
        "number": 2,
        "role": "feature",
        "kind": "number",
        "unit": "°C",
        "missing": 6,
        "unreadable": 0,
        "distinct": 9,
        "minimum": 0.5,
        "maximum": 8.5,
        "decimals": 1,
        "evidence": "",
    }
    assert found["temp [°C]"] == temp
    assert (found["load (%)"]["unreadable"], found["load (%)"]["unit"]) == (1, "%")
    assert (found["who"]["kind"], found["who"]["distinct"]) == ("text", 2)
    assert (found["state"]["missing"], found["state"]["distinct"]) == (1, 3)
    assert (found["when"]["kind"], found["when"]["evidence"]) == (
        "time",
        "it has dates or times of day",
    )
    assert record["n_train"] == COUNT - 1
    said = {notice["kind"]: notice["text"] for notice in record["notices"]}
    assert (
        "column 'load (%)' has 1 cell without a number, such as 'error' on line 10"
        in said["unreadable"]
    )
    assert said["constant"] == "1 of 3 features never vary in the training points: 'fixed'"
    assert said["spelling"].endswith("'OK', 'ok'; these may be typos")
    assert {"missing", "left_out", "decimal_comma", "delimiter", "label"} <= said.keys()


def test_the_table_is_printed(messy: Path) -> None:
    lines = [line.split() for line in succeed("data", messy).stdout.splitlines()]
    temp = ["temp", "[°C]", "feature", "number", "6", "9", "0.5", "to", "8.5"]
    assert any(line[: len(temp)] == temp for line in lines)
    assert ["fixed", "feature", "number", "1", "always", "7"] in lines


def test_a_feature_without_any_number_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("x,y,label\n1,1e39,a\n2,1e39,b\n4,,b\n")
    record = run_json("data", path)
    assert "features" not in record  # each is a column
    y = record["columns"][1]
    assert [y[name] for name in ("unreadable", "distinct", "minimum")] == [2, 0, None]


@pytest.mark.parametrize(
    ("column", "is_copy"),
    [
        (lambda y, rng: y * 10 + rng.random(len(y)), True),
        (lambda y, rng: 2 * rng.integers(0, 5, len(y)) + y, True),
        (lambda y, _: np.array(["bad", "good"])[y], True),
        (lambda y, rng: rng.random(len(y)) + 0.5 * y, False),
        (lambda y, rng: rng.random(len(y)), False),
    ],
)
def test_a_copy_of_the_label_is_noticed(tmp_path: Path, column: object, is_copy: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    values = column(y, rng)  # type: ignore[operator]
    path = tmp_path / "d.csv"
    rows = [
        f"{rng.random():.3f},{value},{'ab'[label]}\n"
        for value, label in zip(values, y, strict=True)
    ]
    path.write_text("x,copy,label\n" + "".join(rows))
    said = [notice.text for notice in leaks(load_dataset(path))]
    expected = (
        "column 'copy' alone determines the label; if the device does not measure it, leave it out "
        "with --drop copy"
    )
    assert said == ([expected] if is_copy else [])


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("name", ["sample #", "it's", "$HOME", 'a "b"', "a,b", "x;y", "(C)", "*"])
def test_a_suggested_option_can_be_pasted_into_a_shell(tmp_path: Path, name: str) -> None:
    path = tmp_path / "d.csv"
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerows([[name, "x", "label"], *([n, n * 7 % 11, "ab"[n % 2]] for n in range(40))])
    (notice,) = (each for each in load_dataset(path).notices if each.kind == "left_out")
    words = notice.text.partition("; ")[2].removesuffix(" uses it")
    shown = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {words}"], capture_output=True, text=True, check=True
    )
    flag, option = shown.stdout.splitlines()
    assert flag == "--keep"
    assert load_dataset(path, options_of({"keep": [option]})).feature_names == (name, "x")


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
