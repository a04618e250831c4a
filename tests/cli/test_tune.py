"""`protonn-edge tune` from the command line: found, written, killed, gone on with."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from click.testing import Result
from command_line import run, run_json
from programs import started

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize

DEADLINE_S = 90


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a few of the digits, of 30 writers."""
    digits = load_digits_dataset()
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    np.savez(
        path,
        X_train=digits.X_train[::5],
        y_train=digits.y_train[::5],
        X_test=digits.X_test[::3],
        y_test=digits.y_test[::3],
        writer=np.arange(len(digits.y_train[::5])) % 30,
        units="shades",
    )
    return path


def tune(*arguments: object) -> Result:
    return run("tune", *arguments, "--folds", 2)


@needs_avr_gcc
def test_the_model_fits_its_limits_and_says_where_it_comes_from(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    limits = ("--max-flash", "6kB", "--max-latency-ms", "2")
    found = tune(
        data, "-o", model, *limits, "--trials", 2, "--jobs", 1, "--json",
        "--choose", "smallest",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    record = json.loads(found.stdout)
    assert record["choice"] == "smallest"
    assert record["linked"]["classifier_flash_bytes"] <= 6_000
    assert record["planned"]["cycles"] <= 32_000 >= record["linked"]["cycles"]["most"]
    assert record["cross_validated"] in record["front"]
    assert 0.6 < record["accuracy"] <= 1
    line = next(line for line in found.stderr.splitlines() if f"build {model} --max-flash" in line)
    built = run_json(*line.split()[1:], "-o", tmp_path / "project")
    assert built["flash_bytes"] == record["linked"]["flash_bytes"]
    assert built["plan"]["kernel"] == record["planned"]["kernel"]

    chosen = load_model(model)
    assert str(chosen.instrument) == "an unknown sensor (shades)"
    assert chosen.record["tuning"]["limits"]["flash_bytes"] == 6_000
    assert chosen.record["tuning"]["chosen"] == record["cross_validated"]
    assert quantize(chosen).model_sha256 == record["model_sha256"]
    kept = (tmp_path / "model.search.jsonl").read_bytes()

    again = tune(data, "-o", model, *limits, "--trials", 2, "--jobs", 1, "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["choice"] == "best"
    assert (tmp_path / "model.search.jsonl").read_bytes() == kept  # nothing was trained anew


def test_limits_that_nothing_meets_are_a_check_that_failed(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("protonn_edge.learn.search.search._REJECTED_IN_A_ROW", 6)
    limit = ("--max-energy-mj", "0.001", "--classifier", "linear")
    found = tune(data, "-o", tmp_path / "model.npz", *limit, "--jobs", 1)
    assert found.exit_code == 1
    assert found.stderr.startswith("error: none of ")
    assert "mJ, estimated (--max-energy-mj is 0.001)" in found.stderr
    assert not (tmp_path / "model.npz").exists()


def test_a_killed_search_goes_on_and_repeats_nothing(data: Path, tmp_path: Path) -> None:
    program = "from protonn_edge.cli import main; main()"
    words = ["tune", data, "-o", tmp_path / "model.npz", "--folds", 2, "--groups", "writer"]
    words += ["--classifier", "linear"]
    command = [sys.executable, "-c", program, *map(str, words), "--jobs", "2", "--trials", "1000"]
    path = tmp_path / "model.search.jsonl"
    with started(*command) as process:
        while not path.exists() or path.read_bytes().count(b"\n") < 5:
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait()
        before = path.read_bytes()
        assert ended_with(process.pid, time.monotonic() + DEADLINE_S)
    numbers = trial_numbers(before)

    trained = len(numbers) + 2
    assert run(*words, "--jobs", 1, "--trials", trained).exit_code == 0
    after = path.read_bytes()
    assert after.startswith(before[: before.rfind(b"\n") + 1])
    assert len(trial_numbers(after)) == len(set(trial_numbers(after))) >= trained


def test_groups_say_how_points_move(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    search = (data, "-o", model, "--groups", "writer", "--trials", 1, "--jobs", 1, "--json")
    found = tune(*search)
    assert found.exit_code == 0, found.output
    assert load_model(model).record["settings"]["group_shift"] == 1.5
    record = json.loads(found.stdout)
    assert record["choice"] == "best"
    assert record["cross_validated"] == record["most_accurate"]
    assert tune(*search).stdout == found.stdout


def trial_numbers(content: bytes) -> list[int]:
    """Return the numbers of the trials with a result in a search's file."""
    lines = [json.loads(line) for line in content.splitlines(keepends=True) if line[-1:] == b"\n"]
    return [line["trial_id"] for line in lines if "record" in line.get("user_attr", ())]


def ended_with(session: int, deadline: float) -> bool:
    """Return whether nothing of the session of a killed process is left, soon."""
    while time.monotonic() < deadline:
        stats = [path / "stat" for path in Path("/proc").iterdir() if path.name.isdecimal()]
        fields = [text.rsplit(")", 1)[1].split() for text in map(read_or_empty, stats) if text]
        if not any(int(each[3]) == session and each[0] != "Z" for each in fields):
            return True
        time.sleep(0.05)
    return False


def read_or_empty(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def test_a_size_that_is_given_stays(data: Path, tmp_path: Path) -> None:
    model, sizes = tmp_path / "model.npz", ("--prototypes", 14, "--epochs", 2)
    done = tune(data, "-o", model, *sizes, "--trials", 1, "--jobs", 1)
    assert done.exit_code == 0, done.output
    assert load_model(model).head.prototypes.shape[1] == 14


def test_images_find_their_features(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    options = ("--image-shape", "8x8", "--features", "deskew", "--trials", 2, "--jobs", 1)
    found = tune(data, "-o", model, *options, "--classifier", "linear")
    assert found.exit_code == 0, found.output
    assert "(features: " in found.stdout
    stage = load_model(model).features
    assert stage is not None
    assert "deskew" in [each.kind for each in quantize(load_model(model)).stages]
