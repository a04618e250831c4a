"""Firmware and a sketch that read a sensor, and report the number of each window."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from arduino_ide import build_sketch, needs_arduino_core
from avr_tools import needs_emulated_avr
from command_line import assert_one_sentence, run, run_json, succeed

from protonn_edge.extensions.sensing.commands.monitor import picture
from protonn_edge.extensions.sensing.listener import NamedAnswer
from protonn_edge.extensions.sensing.sensor_board import WindowAnswer
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize

HZ, WINDOW = 100.0, 40


def swinging(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return counts (n, 1) of an analog input, and how far they swing."""
    rng = np.random.default_rng(seed)
    size = np.interp(np.arange(n), np.linspace(0, n, 9), rng.uniform(20, 400, 9))
    return np.rint(512 + size * np.sin(np.arange(n) / 3) + rng.normal(0, 3, n))[:, None], size


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("live")
    X, y = [], []
    for seed in range(12):
        counts, size = swinging(WINDOW * 20, seed)
        X.append(counts.reshape(20, WINDOW, 1))
        y.append(size.reshape(20, WINDOW).mean(axis=1))
    arrays = {"X": np.concatenate(X), "y": np.concatenate(y), "sample_rate": HZ}
    np.savez(place / "windows.npz", **arrays, channel_names=["a0"], value_name=["swing"])
    words = ("--features", "mean,deviation", "--prototypes", "8", "--epochs", "30")
    succeed("train", place / "windows.npz", *words, "-o", place / "model.npz")
    return place


@needs_emulated_avr
@pytest.mark.parametrize("hop", [WINDOW, 15])
def test_a_board_reports_the_number_of_each_window(folder: Path, hop: int, tmp_path: Path) -> None:
    live, words = tmp_path / "live", ("--sensor", "a0", "--hop", hop)
    verified = run_json("verify", folder / "model.npz", folder / "windows.npz")
    assert verified["mismatches"] == 0
    built = run_json("build", folder / "model.npz", *words, "-o", live)
    assert built["response"]["cycles"] > 0
    played, _ = swinging(400, seed=99)
    rows = "\n".join(f"{count:.0f}" for count in played[:, 0])
    (tmp_path / "played.csv").write_text(f"# rate: {HZ:g} Hz\na0\n{rows}\n")
    watch = ("--project", live, "--emulate", "--sensor", f"a0={tmp_path / 'played.csv'}")
    printed = succeed("monitor", *watch, "--seconds", 3, "--json").stdout
    told = [json.loads(line) for line in printed.splitlines()]
    assert len(told) == 1 + (300 - WINDOW) // hop
    model = quantize(load_model(folder / "model.npz"))
    firsts = [each["first_sample"] for each in told]
    raw = np.stack([played[first : first + WINDOW, 0] for first in firsts]).astype(int)
    words = model.policy.words(model.scores(model.raw_inputs.quantize(raw)), model.classes)
    assert words is not None
    assert [each["value"] for each in told] == list(map(float, words))
    assert {each["name"] for each in told} == {"swing"}
    lines = succeed("monitor", *watch, "--seconds", 3).stdout
    assert f"swing {words[0]}\n" in lines


def test_the_picture_of_a_window_has_its_number() -> None:
    answer = WindowAnswer.of((0, 0, 0, 0, 0), (), (1234,))
    window = NamedAnswer(answer, 1.0, "swing", "swing", ("swing",), 1, 0, None, "12.34")
    first, state = picture(window).renderables
    assert str(first) == "swing 12.34"
    assert "1 window" in str(state)


@pytest.mark.parametrize(
    "words", [("--votes", "3"), ("--votes", "1,refractory=1"), ("--mark", "50")]
)
def test_votes_of_classes_are_refused(folder: Path, words: tuple[str, str], tmp_path: Path) -> None:
    told = run("build", folder / "model.npz", "--sensor", "a0", *words, "-o", tmp_path / "live")
    assert_one_sentence(told, f"{words[0]} is given")


def test_events_of_classes_are_refused(folder: Path) -> None:
    table = folder / "recording.csv"
    table.write_text("a0,label\n" + "1,rest\n" * 90 + "2,wave\n" * 90)
    assert_one_sentence(run("predict", folder / "model.npz", table, "--hop", 20), "--hop")


@needs_arduino_core
def test_the_sketch_prints_the_number(folder: Path, arduino_core: Path, tmp_path: Path) -> None:
    words = ("--sensor", "a0", "--arduino", tmp_path / "swings")
    succeed("export", folder / "model.npz", *words)
    sketch = (tmp_path / "swings" / "examples" / "Live" / "Live.ino").read_text()
    assert "PNN_VALUE_DECIMALS" in sketch
    assert "class" not in sketch.replace("class_index", "").split("#define CHANNELS")[0]
    build_sketch(tmp_path / "swings", "Live", arduino_core, tmp_path / "out")
