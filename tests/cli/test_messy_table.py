"""A table as people have it becomes firmware in three commands that recognize its faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import run_json, succeed
from messy_table import ROWS_WITH_GAPS, STATES, write_table

from protonn_edge.data.reading import load_dataset


def test_from_the_table_to_firmware(tmp_path: Path) -> None:
    table, model = tmp_path / "m.csv", tmp_path / "m.npz"
    write_table(table, 1_600, seed=1)
    shown = run_json("data", table)
    options = "--missing", "median", "--class-weight", "balanced"
    trained = run_json("train", table, "-o", model, *options)
    succeed("build", model, "-o", tmp_path / "uno")

    assert len(shown["columns"]) == 40
    roles = [each["role"] for each in shown["columns"]]
    assert [each for each in roles if each != "feature"] == ["time", "session", "text", "label"]
    assert [each["unit"] for each in shown["columns"]][2] == "°C"
    assert shown["table"]["decimal_comma"]
    gaps = load_dataset(table, missing="median").gaps
    assert gaps is not None
    assert abs(gaps.any(axis=1).mean() - ROWS_WITH_GAPS) < 0.05

    new = write_table(tmp_path / "new.csv", 2_000, seed=2)
    predicted = np.array(run_json("predict", model, new)["predicted"])
    states = np.array([line.rsplit(";", 1)[1] for line in new.read_text().splitlines()[1:]])
    recalls = {state: (predicted[states == state] == state).mean() for state in STATES}
    assert min(recalls.values()) > 0.4, recalls

    results, page = tmp_path / "uno" / "results.csv", tmp_path / "page.html"
    found = run_json("hil", table, "-o", results, "--project", tmp_path / "uno")
    assert found["mismatches"] == 0
    assert (found["n"], found["accuracy"]) == (trained["n"], trained["accuracy"])
    succeed("report", results, "--model", model, "--data", table, "-o", page)
    assert f"m.csv, {found['n']} test points" in page.read_text()
