"""A model of the counts of a sensor takes those of another one only with its unit."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import refusal, run, run_json

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.renderer import render_c
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.windowing import Windowing, windowing_of
from protonn_edge.model.file import load_model
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.sensor_counts import CountConversion

HEAD = "# protonn-edge recording 1; sensor: {}; rate: 100 Hz; units: {}\n"
Trained = Callable[..., Path]
ADXL345 = HEAD.format("adxl345", "1/256 g")


def recording(path: Path, head: str, per_g: float, digits: int = 0) -> Path:
    """Write what an accelerometer at rest and one that is shaken give, in units of 1 g / per_g."""
    rng = np.random.default_rng(0)
    rows = ["label,session,time,ax,ay,az"]
    for label, swing in (("idle", 0.02), ("shaking", 1.5)):
        g = rng.normal(0, swing, (400, 3)) + np.array([0, 0, 1])
        times = (400 * (label == "shaking") + np.arange(400)) / 100
        for time, row in zip(times, g.clip(-4, 4), strict=True):
            values = ",".join(f"{round(value * per_g, digits):.{digits}f}" for value in row)
            rows.append(f"{label},s,{time:.2f},{values}")
    path.write_text(head + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Give a function that returns the model file of such a recording, cut into windows."""

    @cache
    def train(head: str, per_g: float, digits: int = 0) -> Path:
        folder = tmp_path_factory.mktemp("trained")
        source = recording(folder / "r.csv", head, per_g, digits)
        run_json("windows", source, "-o", folder / "w.npz", "--window", 20)
        features = ["--features", "mean,deviation,max", "--sample-rate", "100", "--epochs", 3]
        run_json("train", folder / "w.npz", "-o", folder / "m.npz", *features)
        return folder / "m.npz"

    return train


def built(model: Model, sensor: str, unit: str | None = None) -> Windowing:
    sampling = Sampling.of([sensor_kind(sensor)], 100.0, load_board("uno"))
    return windowing_of(
        quantize(model), model.feature_names, sampling, instrument=model.instrument, unit=unit
    )


@pytest.mark.parametrize(
    "command", [["build", "-o"], ["export", "--arduino"]], ids=lambda words: words[0]
)
def test_counts_of_another_sensor_are_refused_by_name(
    trained: Trained, tmp_path: Path, command: list[str]
) -> None:
    model = trained(ADXL345, 256)
    words = [command[0], model, command[1], tmp_path / "out", "--sensor", "mpu6050"]
    sentence = refusal(run(*words))
    assert "trained on data from adxl345 (1/256 g), but --sensor is mpu6050 (1/8192 g)" in sentence
    assert "--unit '1/256 g'" in sentence
    assert not (tmp_path / "out").exists()
    assert "trained on data from adxl345" in refusal(run(*words, "--unit", "g"))


@needs_emulated_avr
def test_counts_are_converted_when_their_unit_is_given(trained: Trained, tmp_path: Path) -> None:
    model = load_model(trained(ADXL345, 256))
    own, other = built(model, "adxl345"), built(model, "mpu6050", "1/256 g")
    assert own.model.counts is None
    assert own.notices == ()
    counts = np.arange(-1024, 1024).repeat(60).reshape(-1, 60)
    assert np.array_equal(
        own.model.raw_inputs.quantize(counts), other.model.raw_inputs.quantize(32 * counts)
    )
    assert other.model.model_sha256 == own.model.model_sha256  # only its inputs are converted
    (notice,) = other.notices
    assert "1/256 g to counts of 1/8192 g (times 32)" in notice.text
    assert "from adxl345 (1/256 g), whose mounting and bandwidth may differ" in notice.text
    words = ["--sensor", "mpu6050", "--unit", "1/256 g", "--arduino", tmp_path / "library"]
    run_json("export", trained(ADXL345, 256), *words)
    readme = (tmp_path / "library" / "README.md").read_text()
    assert "/* a 16-bit integer: the sensor's counts */" in readme


@pytest.mark.parametrize(
    ("per_g", "unit", "digits"),
    [(1, "g", 4), (1000, "mg", 0), (9.80665, "m/s^2", 3), (64, "1/64 g", 0)],
)
def test_a_model_in_a_unit_of_acceleration_takes_the_counts_of_a_sensor(
    trained: Trained, per_g: float, unit: str, digits: int
) -> None:
    model = load_model(trained(HEAD.format("", unit), per_g, digits))
    chain = built(model, "adxl345").model
    counts = np.arange(-512, 512).repeat(60).reshape(-1, 60)
    Q = chain.raw_inputs.quantize(counts)
    exact = InputQuantizer(chain.quantizer.zero, chain.quantizer.step, 255)
    wanted = exact.quantize(counts * per_g / 256)
    differing = Q.astype(int) - wanted
    assert np.abs(differing).max() <= 1
    assert np.mean(differing != 0) < 0.02  # on the edge between two bytes
    c = "".join(render_c(chain, make_plan(chain)).values())
    assert "the sensor's counts" in c


@needs_emulated_avr
def test_a_model_in_g_tells_the_classes_of_an_adxl345(trained: Trained, tmp_path: Path) -> None:
    model = trained(HEAD.format("", "g"), 1, 4)
    live = tmp_path / "live"
    built_for = run_json("build", model, "-o", live, "--sensor", "adxl345")
    assert "g to counts of 1/256 g (times 256)" in built_for["notices"][0]["text"]
    played = recording(tmp_path / "play.csv", ADXL345, 256)
    words = ["--emulate", "--project", live, "--sensor", f"adxl345={played}", "--seconds", 8]
    done = run("monitor", *words, "--json")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    classes = [answer["class"] for answer in answers]
    assert classes == 20 * ["idle"] + 20 * ["shaking"]
    assert "warning" not in done.stderr
    run_json("windows", played, "-o", tmp_path / "played.npz", "--window", 20)
    assert run_json("predict", model, tmp_path / "played.npz")["predicted"] == classes


@pytest.mark.parametrize(("unit", "per_g"), [("g", 1), ("m/s^2", 9.80665), ("1/64 g", 64)])
def test_counts_of_a_recording_become_the_bytes_that_the_board_makes_of_them(
    trained: Trained, unit: str, per_g: float
) -> None:
    model = load_model(trained(HEAD.format("", unit), per_g, 3))
    kind, chain = sensor_kind("mpu6050"), quantize(model)
    measured = Instrument("mpu6050", kind.channel_units[:3])
    conversion = CountConversion.of(measured, model.instrument)
    assert conversion is not None
    counts = np.resize(np.arange(-32768, 32768).repeat(3), (3277, 60))  # each by each channel
    on_board = built(model, "mpu6050").model.raw_inputs.quantize(counts)
    X = counts.astype(np.float32)
    assert np.array_equal(chain.quantize(conversion.applied(X, chain)), on_board)
    unlike = chain.quantize((X / conversion.per_unit[0]).astype(np.float32)) != on_board
    assert 0 < unlike.mean() < 0.01  # which a conversion in floats alone would have


def test_a_unit_is_declared_where_the_data_does_not_state_it(
    trained: Trained, tmp_path: Path
) -> None:
    model = trained("", 1, 3)
    words = ["build", model, "-o", tmp_path / "live", "--sensor", "adxl345"]
    assert "--unit g if a sensor at rest measures 1, or --unit m/s^2 if it measures 9.8" in refusal(
        run(*words)
    )
    chain = built(load_model(model), "adxl345", "g").model
    assert chain.counts.tolist() == [256.0] * 3
    assert "give a unit such as g" in refusal(run(*words, "--unit", "256"))
    assert "has no unit for ay" in refusal(run(*words, "--unit", "ax g"))


def test_counts_without_a_unit_are_taken_for_the_sensors_and_that_is_said(trained: Trained) -> None:
    windowing = built(load_model(trained("", 256)), "adxl345")
    assert windowing.model.counts is None
    (notice,) = windowing.notices
    assert "assumes that the values are counts of adxl345 (1/256 g)" in notice.text
