"""From a sensor to a watched class: recorded, cut, trained, built, uploaded, monitored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json, succeed
from uploads import upload_patiently

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.live import Reporter
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sensor_board import UNDECIDED
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Confidence

RATE = 100.0
Property = Callable[[str, object], None]
HEADER = "# rate: 100 Hz\nax,ay,az,gx,gy,gz\n"

pytestmark = needs_emulated_avr


@pytest.fixture(autouse=True)
def _in_a_clean_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def play(name: str, samples: np.ndarray) -> str:
    """Write a file that an emulated MPU-6050 plays; return the option for it."""
    rows = "\n".join(",".join(map(str, row)) for row in samples.tolist())
    Path(name).write_text(f"{HEADER}{rows}\n")
    return f"mpu6050={name}"


def record(label: str, samples: np.ndarray) -> None:
    """Record all samples of a class, but for a window's end, from an emulated board's line."""
    words = ["--seconds", len(samples) / RATE, "--takes", 1, "--pause", 0]
    sensor = play(f"{label}.csv", samples)
    taken = run_json(
        "record", "-o", "recording.csv", "--emulate", "--sensor", sensor, "--label", label, *words
    )
    assert (taken["lost"], taken["torn_frames"]) == (0, 0)


def watched(played: np.ndarray, seconds: float, live: Path) -> list[dict[str, object]]:
    """Upload to an emulated board with the sensor, through its bootloader; return its answers."""
    sensor = PlayedSensor(sensor_kind("mpu6050"), played.astype(np.int16), RATE)
    with EmulatedUno(None, bootloader=True, sensors=[sensor]) as uno:
        done = upload_patiently(lambda: run_json("upload", live, "--port", uno.url))
        assert (done["port"], done["environment"]) == (uno.url, "uno")
        printed = succeed("monitor", "--port", uno.url, "--seconds", seconds, "--json").stdout
        assert uno.stats().faults == ()
    return [json.loads(line) for line in printed.splitlines()]


def assert_scores_are_numpys(answers: list[dict[str, object]], played: np.ndarray) -> None:
    """Check each window's class and scores against the integer model's."""
    model = load_model(Path("model.npz"))
    reference = quantize(model)
    window = reference.n_features // played.shape[1]
    raw = np.stack(
        [
            played[np.arange(answer["first_sample"], answer["first_sample"] + window) % len(played)]
            for answer in answers
        ]
    ).reshape(len(answers), -1)
    Q = reference.raw_inputs.quantize(raw)
    scores = np.array([list(answer["scores"].values()) for answer in answers])
    assert np.array_equal(scores, reference.scores(Q))
    classes = [model.classes[label] for label in reference.predict(Q)]
    assert [answer["class"] for answer in answers] == classes
    assert reference.policy.find(Confidence) is not None
    percents = reference.policy.find(Confidence).percent(scores).tolist()
    assert [answer["confidence"] for answer in answers] == percents
    assert {answer["lost"] for answer in answers} == {answers[-1]["missing"]} == {0}


def gesture(kind: str, samples: int, phase: float = 0.0) -> np.ndarray:
    """Return counts of an MPU-6050 at rest, waved, or led around."""
    rng = np.random.default_rng(samples)
    t = np.arange(samples) / RATE + phase
    move = {"rest": 0.0 * t, "wave": np.sin(20 * t), "circle": np.sin(8 * t)}[kind]
    turn = np.cos(8 * t) if kind == "circle" else 0.0 * t
    still = np.array([0, 0, 8192, 0, 0, 0])
    moved = np.stack([3000 * move, 2500 * turn, 800 * move, 0 * t, 6000 * move, 5000 * turn], 1)
    return np.rint(still + moved + rng.normal(0, 60, (samples, 6))).astype(int)


def test_a_gesture_is_recorded_trained_uploaded_and_watched(record_property: Property) -> None:
    succeed("build", "--sensor", "mpu6050", "--rate", 100)
    for kind in ("rest", "wave", "circle"):
        record(kind, gesture(kind, 500))
    succeed("windows", "recording.csv", "-o", "windows.npz", "--window", 50, "--stride", 10)
    features = ["--features", "mean,deviation,crossings:2,bands:2", "--sample-rate", "100"]
    succeed("train", "windows.npz", "-o", "model.npz", *features, "--epochs", 20)
    how = ["--sensor", "mpu6050", "--hop", 15, "--votes", "3,refractory=1.5"]
    built = run_json("build", "model.npz", *how)
    assert (built["window"], built["hop"], built["rate"]) == (50, 15, 100)
    kinds = ("wave", "rest", "circle")
    played = np.concatenate([gesture(kind, 200, phase=0.3) for kind in kinds])
    answers = watched(played, 5.5, Path("live"))
    firsts = [answer["first_sample"] for answer in answers]
    assert firsts == list(range(0, 15 * len(answers), 15))
    assert_scores_are_numpys(answers, played)
    whole = [answer for answer in answers if answer["first_sample"] % 200 <= 150]
    right = [answer["class"] == kinds[answer["first_sample"] // 200] for answer in whole]
    record_property("accuracy", f"{100 * np.mean(right):.1f} % of {len(right)} windows")
    assert np.mean(right) > 0.9
    assert_told_as_the_reference(answers, ("circle", "rest", "wave"))


def assert_told_as_the_reference(
    answers: list[dict[str, object]], classes: tuple[str, ...]
) -> None:
    reporter = Reporter(votes=3, refractory=150)
    for answer in answers:
        reporter.report(classes.index(answer["class"]), answer["first_sample"] + 50)
        told = None if reporter.reported == UNDECIDED else classes[reporter.reported]
        assert answer["reported_class"] == told
    assert reporter.reported != UNDECIDED
