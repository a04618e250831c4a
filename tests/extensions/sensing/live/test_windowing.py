"""Windows on the board: what is refused, what is told, and what a gap does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run, run_json
from convolution_factory import random_convolution
from convolution_factory import random_model as random_convolution_model
from extensions.sensing.logger_builds import answers_of, assert_computed, compile_live, noise
from extensions.sound.audio_factory import audio_of, hearing, random_audio_model
from model_factory import (
    drawn_kernels_of,
    random_model,
    random_window_model,
    scaled,
    window_features_of,
    with_points,
)
from refusals import refused_by

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.families.avr.code import AVRCode
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.folder import read_plan
from protonn_edge.codegen.renderer import template_environment
from protonn_edge.data.naming import sample_names
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.units import unit_of
from protonn_edge.extensions.sensing.commands.live import LiveOptions
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.load import Load
from protonn_edge.extensions.sensing.response import response_of
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_board import WindowAnswer
from protonn_edge.extensions.sensing.sensor_projects import build_live
from protonn_edge.extensions.sensing.windowing import Windowing, windowing_of
from protonn_edge.extensions.sound.onset import onsets_of
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Sharpness
from protonn_edge.policy.confidence.voting import UNDECIDED, Reporter, shares_of
from protonn_edge.system.errors import CheckFailed, InputError

UNO = load_board("uno")
MPU6050 = sensor_kind("mpu6050")
MODEL = random_window_model(window_features_of("mean,min,max,bands:3", 32, 6))
HEARING = with_rules(
    replace(
        random_audio_model(hearing(audio_of(12, 10, 200))), raw_exponents=np.zeros(1, np.int64)
    ),
    Sharpness(2.0),
)
CONVOLVING = replace(
    random_convolution_model(
        layered(
            (random_convolution(0, (32, 1, 6), 4, 5, stride=2),),
            pixels=ChannelScale((-300.0,) * 6, (40.0,) * 6, 6),
        )
    ),
    raw_exponents=np.zeros(6, np.int64),
)
COUNTING = random_window_model(scaled(drawn_kernels_of(32, 6, 8), [-300.0] * 6, [2.4] * 6))


def plain_model(features: int, **more: int) -> Model:
    """Return a model of whole numbers without windows."""
    model = random_model(features=features, **more)
    return replace(model, raw_exponents=np.zeros(features, np.int64))


def named(*names: str) -> Model:
    return replace(MODEL, classes=(*names, *MODEL.classes[len(names) :]))


def hearing_from(zero: float, step: float) -> Model:
    """Return a model of sound of another full scale than an analog input's."""
    stage = scaled(HEARING.features, zero, step)
    return replace(HEARING, features=stage)


def moving_from(zero: float, step: float) -> Model:
    """Return a model of windows of one channel that has reached so much."""
    stage = window_features_of("mean,min,max", 32, 1)
    model = random_window_model(scaled(stage, zero, step))
    return replace(model, raw_exponents=np.zeros(1, np.int64))


def windows_of(
    model: Model = MODEL, rate: float = 100.0, sensor: str = "mpu6050", **more: object
) -> Windowing:
    sampling = Sampling.of([sensor_kind(name) for name in sensor.split(",")], rate, UNO)
    return windowing_of(
        quantize(model), model.feature_names, sampling, instrument=model.instrument, **more
    )  # type: ignore[arg-type]


@needs_emulated_avr
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"hop": 5, "votes": 5},
        {"hop": 47, "refractory_s": 0.7},
        {"hop": 31, "votes": 2},
        {"hop": 20, "votes": 3, "marks": (60, 90, 0), "model": with_rules(MODEL, Sharpness(0.01))},
        {"model": CONVOLVING, "hop": 20},
        {"model": COUNTING, "hop": 20},
    ],
    ids=["separate", "hop 5", "refractory", "votes", "marks", "convolving", "counting"],
)
def test_windows_follow_one_another_by_the_hop_and_are_told_as_the_reference_does(
    tmp_path: Path, more: dict[str, object]
) -> None:
    windows = windows_of(**more)
    elf = compile_live(tmp_path, windows)
    played = noise(301, 6, -300, 300)
    answers = answers_of(elf, windows, played, 12)
    assert [answer.first for answer in answers] == list(
        range(0, windows.hop * len(answers), windows.hop)
    )
    assert_computed(windows, answers, played)
    refractory = {0.7: 70}.get(windows.refractory_s, 0)  # samples, at 100 a second
    assert [answer.reported for answer in answers] == told_of(windows, answers, refractory)
    if refractory:  # so that this time matters
        assert told_of(windows, answers, refractory) != told_of(windows, answers, refractory // 100)


def told_of(windows: Windowing, answers: list[WindowAnswer], refractory: int) -> list[int]:
    reporter, told = Reporter(windows.votes, refractory, windows.marks), []
    labels, scores = (
        np.array([getattr(each, name) for each in answers]) for name in ("label", "scores")
    )
    every = shares_of(windows.model.policy, labels, scores)
    for answer, shares in zip(answers, every, strict=True):
        reporter.report(answer.label, shares, answer.first + windows.window)
        told.append(reporter.reported)
        assert answer.shares == reporter.shares
    return told


def test_the_time_of_a_reported_class_is_in_samples() -> None:
    assert windows_of(rate=50.0, refractory_s=2.0).refractory == 100


@needs_emulated_avr
def test_values_far_outside_the_training_are_told_by_monitor(tmp_path: Path) -> None:
    own = random_window_model(window_features_of("mean,max", 20, 3))
    save_model(in_units(own, "g", "g", "g"), tmp_path / "m.npz")
    live = tmp_path / "live"
    run_json("build", tmp_path / "m.npz", "-o", live, "--sensor", "adxl345", "--rate", 100)
    counts = np.arange(7)[:, None] + np.array([128, 128, 1028])  # trained from 0 to 255
    rows = "\n".join(",".join(map(str, row)) for row in counts.tolist())
    (tmp_path / "play.csv").write_text(f"# rate: 100 Hz\nax,ay,az\n{rows}\n")
    sensor = ["--sensor", f"adxl345={tmp_path / 'play.csv'}"]
    done = run("monitor", "--emulate", "--project", live, *sensor, "--seconds", 5)
    assert done.exit_code == 0, done.output
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("warning:")]
    assert "data: az from 1,028 to 1,034 (in training, from 0 to 255); check the sensor" in line


def in_units(model: Model, *units: str) -> Model:
    """Return the model of windows for data in other units than the counts of an ADXL345."""
    stage, found = model.features, tuple(map(unit_of, units))
    counts = [float(256 * unit.size) for unit in found]
    stage = scaled(
        stage,
        [zero / each for zero, each in zip(stage.points.scale.zero, counts, strict=True)],
        [step / each for step, each in zip(stage.points.scale.step, counts, strict=True)],
    )
    return replace(model, features=stage, instrument=Instrument("", found))


@needs_emulated_avr
@pytest.mark.parametrize("units", [("g",) * 3, ("m/s^2", "mg", "1/100 g")], ids=" ".join)
def test_a_model_of_other_units_takes_the_counts_of_its_sensor_as_numpy_does(
    tmp_path: Path, units: tuple[str, ...]
) -> None:
    own = random_window_model(window_features_of("mean,min,max,bands:3", 32, 3))
    windows = windows_of(in_units(own, *units), sensor="adxl345", hop=20)
    elf = compile_live(tmp_path, windows)
    played = noise(307, 3, -300, 300)
    answers = answers_of(elf, windows, played, 12)
    assert_computed(windows, answers, played)
    assert len({answer.label for answer in answers}) > 1
    if set(units) == {"g"}:  # 1/256 is exact
        assert_computed(windows_of(own, sensor="adxl345", hop=20), answers, played)


def sounds(*loud: int) -> np.ndarray:
    """Return counts of an analog input: silence, and noise of 2,500 samples, by turns."""
    quiet = np.full((1777, 1), 512)
    parts = [512 + noise(2500 + each, 1, -each, each)[:2500] for each in loud]
    return np.concatenate([np.concatenate([quiet, part]) for part in parts]).astype(np.int16)


@needs_emulated_avr
@pytest.mark.parametrize("more", [{}, {"hop": 2700}], ids=str)
def test_sound_is_classified_once_from_where_it_begins_and_no_sample_is_lost(
    tmp_path: Path, more: dict[str, int]
) -> None:
    windows = windows_of(HEARING, 8000.0, "microphone", **more)
    elf = compile_live(tmp_path, windows)
    # a sample needs the logarithm of at most one energy, and not those of its clip
    assert response_of(AVRCode(read_program(elf)), windows).sample_cycles < 2_000
    played = sounds(500, 90, 250)
    answers = answers_of(elf, windows, played, 6)
    firsts = [answer.first for answer in answers]
    heard = (np.tile(played, (3, 1))[:, 0] >> 2).astype(np.uint8)
    assert firsts == list(onsets_of(heard, windows.hop, 4))[:6]
    assert [first // 4277 for first in firsts] == list(range(6))  # each sound is heard once
    assert [answer.number for answer in answers] == list(range(6))
    assert {answer.lost for answer in answers} == {0}
    assert_computed(windows, answers, played)
    told_of(windows, answers, 0)  # whose shares are compared


def test_windows_of_sound_do_not_overlap() -> None:
    with refused_by("extensions.sensing.windowing"):
        windows_of(HEARING, 8000.0, "microphone", hop=1999)


@needs_emulated_avr
@pytest.mark.parametrize("hop", [8, 32])
def test_no_window_spans_a_gap_and_every_lost_sample_is_counted(tmp_path: Path, hop: int) -> None:
    """The board is made too slow on purpose: its ring holds nothing while it computes."""
    windows = windows_of(rate=1000.0, hop=32)
    plan = make_plan(windows.model)
    context = windows.context(plan) | {
        "windowing": replace(windows, hop=hop),
        "ring_samples": 32 if hop < 32 else 2,
    }
    text = template_environment("sensors").get_template("live.c.j2").render(context)
    elf = compile_live(tmp_path, windows, **{"src/main.c": text})
    played = noise(401, 6, -300, 300)
    answers = answers_of(elf, windows, played, 12)
    assert_computed(windows, answers, played)
    firsts = np.array([answer.first for answer in answers])
    lost = np.array([answer.lost for answer in answers])
    kept_in_vain = 0 if hop < 32 else 2  # the ring's, behind the window and before the gap
    assert np.all(np.diff(lost) > 0)
    assert np.array_equal(np.diff(firsts), 32 + kept_in_vain + np.diff(lost))


@needs_emulated_avr
def test_an_overlap_that_does_not_fit_is_refused_in_a_sentence() -> None:
    wide = random_window_model(
        window_features_of("mean,deviation,min,max,change,crossings,bands:6", 250, 6)
    )
    with pytest.raises(CheckFailed, match=r"of which at least 1,500 B hold .* give --hop 250"):
        build_live(wide, windows_of(wide, hop=50))
    apart = windows_of(wide)
    assert apart.ring_samples(make_plan(apart.model)) < 10


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (MODEL, {"sensor": "a0"}),
        (plain_model(7), {"sensor": "a0,a1"}),
        (MODEL, {"votes": 16}),
        (MODEL, {"hop": 65_536}),
        (MODEL, {"hop": 1, "rate": 700.0}),
        (named("x" * 63 + "one", "x" * 63 + "two"), {}),
        (hearing_from(0.0, 1.0), {"sensor": "microphone"}),
        (hearing_from(-32640.5, 256.0), {"sensor": "microphone"}),
        (moving_from(-32768.0, 257.0), {"sensor": "a3"}),
    ],
)
def test_what_the_board_cannot_do_is_refused(model: Model, more: dict[str, object]) -> None:
    with refused_by("extensions.sensing.sampling", "extensions.sensing.windowing"):
        windows_of(model, **more)  # type: ignore[arg-type]


def test_the_largest_hop_and_number_of_votes_are_taken() -> None:
    windows = windows_of(hop=65_535, votes=15)
    assert (windows.hop, windows.votes) == (65_535, 15)


def test_a_board_that_cannot_keep_up_is_refused() -> None:
    windows = windows_of(rate=1000.0, hop=4)
    with refused_by("extensions.sensing.windowing", kind=CheckFailed):
        windows.ring_samples(make_plan(windows.model))


def test_a_product_has_until_the_next_window() -> None:
    wide = windows_of(plain_model(50, projections=80), rate=9000.0, sensor="microphone", hop=900)
    assert wide.ring_samples(make_plan(wide.model)) > 10


def test_samples_that_take_more_than_a_windows_others_wait_in_the_buffer() -> None:
    windows = windows_of(HEARING, 8000.0, "microphone", hop=5000)
    load = Load(1_200.0 * windows.window, 5_000, 1_700, 496)
    assert windows.ring_samples(load) > 2
    with pytest.raises(CheckFailed, match=r"a sample takes 1,400 cycles .* every 2,000 cycles"):
        windows.ring_samples(replace(load, window_cycles=1_400.0 * windows.window))


def test_channels_are_found_by_their_names() -> None:
    model = random_window_model(window_features_of("mean,max", 20, 2))
    names = sample_names(("gz", "ax"), 20)
    assert windows_of(replace(model, feature_names=names)).used == (5, 0)
    plain = replace(plain_model(2), feature_names=("a3", "a1"))
    assert windows_of(plain, sensor="a1,a3").used == (1, 0)
    other = replace(model, feature_names=sample_names(("x", "y"), 20))
    with pytest.raises(InputError, match=r"\('x', 'y'\), but mpu6050 provides ax, ay"):
        windows_of(other)


def test_the_word_is_that_of_the_mean_and_stays_for_its_time() -> None:
    reporter = Reporter(votes=3, refractory=100)
    told = []
    for number, label in enumerate([1, 0, 1, 0, 0, 1, 1, 1]):
        news = reporter.report(label, 100 * np.eye(2)[label], 30 * number)
        told.append((reporter.reported, news))
    # At 30, the latest window wins the tie. At 60, 1 has most, but 0 has stood for only 30 samples.
    zero, one = (0, False), (1, False)
    assert told == [(UNDECIDED, False), (0, True), *[zero] * 4, (1, True), one]
    reporter.forget()
    assert not reporter.report(0, np.array([100, 0]), 1000)
    assert reporter.report(0, np.array([100, 0]), 1030)


def test_a_rate_may_be_nearly_that_of_the_training() -> None:
    nearly = replace(MODEL, features=with_points(MODEL.features, rate=49.995))
    windowing = LiveOptions(("mpu6050",), 50.0, None, None, None, ()).windowing(nearly, UNO)
    assert windowing is not None
    assert windowing.sampling.rate == 50.0


@needs_emulated_avr
def test_the_command_writes_a_project_that_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    save_model(MODEL, path)
    words = ["build", path, "-o", tmp_path / "live", "--sensor", "mpu6050", "--rate", 100]
    first = run_json(*words, "--hop", 8)
    assert first["ring_bytes"] >= 32 * 6
    assert 0 < first["response"]["ending_cycles"] < first["response"]["cycles"]
    before = (tmp_path / "live" / "src" / "main.c").read_text()
    written = read_plan(tmp_path / "live" / "build.json").plan_of(quantize(MODEL))
    assert written is not None
    assert written.to_json() == first["plan"]
    assert run_json(*words, "--hop", 8) == first
    assert (tmp_path / "live" / "src" / "main.c").read_text() == before


def used(model: Model, *names: str) -> tuple[tuple[int, ...], list[str]]:
    """Return the channels of an ADXL345 that a model with these names takes, and warnings."""
    sampling = Sampling.of([sensor_kind("adxl345")], 100.0, UNO)
    found = windowing_of(quantize(model), sample_names(names, 32) if names else (), sampling)
    return found.used, [notice.text for notice in found.notices if notice.warning]


def test_channels_are_found_by_name_by_axis_or_else_by_place_with_a_warning() -> None:
    stage = window_features_of("mean,min,max", 32, 3)
    model = replace(random_window_model(stage), raw_exponents=np.zeros(3, np.int64))
    assert used(model, "az", "ay", "ax") == ((2, 1, 0), [])
    assert used(model, "z", "y", "x") == ((2, 1, 0), [])
    assert used(model) == ((0, 1, 2), [])
    places, warnings = used(model, "left", "up", "x")
    assert places == (0, 1, 2)
    (warning,) = warnings
    assert warning.endswith("matched by position: left = ax, up = ay, x = az")
