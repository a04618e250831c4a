"""What programs read: each command's JSON object has the entries that docs/commands.md lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from avr_tools import needs_emulated_avr
from command_line import every_command, run_json, takes_json
from json_records import RECORDS, check_record
from model_factory import random_model

from protonn_edge.model.file import save_model
from protonn_edge.system.extensions import extensions

ROWS = [f"{'xy'[n % 2]},{n % 2 + n % 9 / 10:.1f},{n % 7}" for n in range(60)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("json")
    (made / "table.csv").write_text("\n".join(["label,a [mm],b", *ROWS, ""]))
    save_model(random_model(features=2, classes=2), made / "random.npz")
    return made


def test_each_command_with_json_is_documented() -> None:
    with_json = {name for name in every_command() if takes_json(name)}
    assert with_json <= RECORDS.keys()
    if extensions():
        assert with_json == RECORDS.keys()


@needs_emulated_avr
def test_from_a_table_to_a_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    run_json("data", "table.csv")
    trained = run_json("train", "table.csv", "-o", "m.npz", "--classifier", "linear")
    for words in ("m.npz --data table.csv", "--boards"):
        run_json("inspect", *words.split())
    run_json("predict", "m.npz", "table.csv", "-o", "predicted.csv")
    built = run_json("build", "m.npz", "-o", "project", "--max-sram", 1000)
    assert built["fits"]
    assert built["limits"] == {"flash_bytes": 32_256, "sram_bytes": 1_000}
    assert built["cycles"]["most_ms"] == pytest.approx(built["cycles"]["most"] / 16_000)
    verified = run_json("verify", "m.npz", "table.csv")
    low, high = verified["accuracy_interval"]
    assert low < verified["accuracy"] <= high
    assert [low, high] == trained["quality"]["accuracy_interval"]
    measured = run_json("hil", "table.csv", "--emulate", "--project", "project", "-o", "r.csv")
    assert measured["cycles_possible"] == built["cycles"]
    run_json("report", "r.csv", "--project", "project")
    run_json("export", "m.npz", "--c", "library")


def test_a_column_is_described_once(folder: Path) -> None:
    record = run_json("data", folder / "table.csv")
    assert "features" not in record
    a = record["columns"][1]
    found = [a[name] for name in ("name", "unit", "minimum", "maximum", "decimals")]
    assert found == ["a [mm]", "mm", 0.0, 1.8, 1]


@pytest.mark.parametrize(
    "record",
    [
        {"classes": {}, "ok": True, "n": 1, "rows": [], "predicted": []},
        {"ok": False, "error": "none", "n": 1, "classes": {}, "rows": [], "predicted": []},
        {"ok": True, "n": 1, "classes": {}, "rows": []},
        {"ok": True, "n": True, "classes": {}, "rows": [], "predicted": []},
    ],
    ids=["not first", "failed", "an entry is missing", "another type"],
)
def test_another_record_is_recognized(record: dict[str, Any]) -> None:
    good = {"ok": True, "n": 1, "classes": {}, "rows": [], "predicted": []}
    check_record("predict", good)
    with pytest.raises(AssertionError):
        check_record("predict", record)
