"""From a recording, or raw windows, to a model of windows that builds and verifies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import refusal, run, run_json, succeed
from extensions.sensing.sounds import write_sound
from refusals import refuses

from protonn_edge.model.file import load_model, model_bytes

FEATURES = "mean,deviation,min,max,crossings,bands:3"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a recording of two channels, 600 raw integers each, in six runs of two labels."""
    rng = np.random.default_rng(0)
    t = np.arange(600)
    fast = t // 100 % 2
    waves = np.sin(t * np.where(fast, 1.5, 0.2)) * 300
    samples = np.stack([500 + waves, 200 - waves / 2], axis=1) + rng.normal(0, 10, (600, 2))
    path = tmp_path_factory.mktemp("recording") / "recording.csv"
    lines = [
        f"{('slow', 'fast')[label]},{x},{y}"
        for label, (x, y) in zip(fast, np.rint(samples).astype(int), strict=True)
    ]
    path.write_text("\n".join(["label,x,y", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def windows(recording: Path) -> Path:
    path = recording.with_name("windows.npz")
    succeed("windows", recording, "-o", path, "--window", 20, "--stride", 5, "--test", 0.4)
    return path


@pytest.fixture(scope="module")
def model(windows: Path) -> Path:
    path = windows.with_name("model.npz")
    options = ["--features", FEATURES, "--prototypes", 4, "--epochs", 30, "--sample-rate", "50"]
    succeed("train", windows, "-o", path, *options)
    return path


def test_a_data_sets_own_shape_is_the_windows(model: Path) -> None:
    trained = load_model(model)
    assert trained.features is not None
    assert trained.features.points.shape == (20, 2)
    assert trained.record["settings"]["window_shape"] == [20, 2]
    assert trained.record["settings"]["features"] == FEATURES


def test_inspect_shows_window_features(model: Path, windows: Path) -> None:
    done = run("inspect", model, "--data", windows)
    assert done.exit_code == 0, done.output
    assert "40: 20 samples of 2 channels at 50 Hz" in done.output
    assert "kinds mean deviation min max crossings bands, bands 3, hysteresis 1" in " ".join(
        done.output.split()
    )
    declared = json.loads(run("inspect", model, "--json").stdout)
    assert declared["points"]["shape"] == [20, 2]


@needs_emulated_avr
def test_every_execution_agrees_on_windows(model: Path, windows: Path, tmp_path: Path) -> None:
    done = run("verify", model, windows, "--json")
    assert done.exit_code == 0, done.output
    assert [each["mismatches"] for each in json.loads(done.stdout)["executions"]] == [0, 0]
    built = run("build", model, "-o", tmp_path, "--data", windows, "--json")
    assert built.exit_code == 0, built.output
    stages = [stage["name"] for stage in json.loads(built.stdout)["plan"]["stages"]]
    assert stages[0] == "window_features"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--features", "mean,mode"], "'mode', expected one of"),
        (["--features", "bands:5"], "bands in 20 samples: 5"),
        (["--features", "mean", "--window", "7x3"], "expected windows of 7x3 samples"),
        (["--features", "mean", "--window", "7y3"], "is not a number of samples and channels"),
        (["--window", "20x2"], "no features of windows are"),
        (
            ["--image-shape", "8x5", "--features", "pool:4x5", "--sample-rate", 50],
            "--sample-rate is given, but no features of windows are",
        ),
        (["--features", "mean", "--projection-dim", 9], "the projection has only 2 inputs"),
        (["--features", "mean", "--sample-rate", "0"], "--sample-rate"),
    ],
)
def test_wrong_window_features_are_one_sentence(
    windows: Path, tmp_path: Path, options: list[object], sentence: str
) -> None:
    done = run("train", windows, "-o", tmp_path / "model.npz", "--prototypes", 4, *options)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--window", 1], "--window"),
        (["--test", 1], "--test"),
        (["--background", " "], "--background"),
        (["--trigger", "auto,after=5"], "is not one of before=..."),
        (["--trigger", "often"], "neither a number above 0 nor 'auto'"),
        (["-o", "windows.txt"], "must end in .npz"),
    ],
)
def test_values_that_no_option_has_are_one_sentence(
    recording: Path, tmp_path: Path, options: list[object], sentence: str
) -> None:
    done = run("windows", recording, "-o", tmp_path / "w.npz", "--window", 20, *options)
    assert sentence in " ".join(refusal(done).split())


# --- recordings as people have them --------------------------------------------------------------


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a log of two people at 50 Hz: they wave or push every 4 seconds, and rest."""
    rng = np.random.default_rng(0)
    lines = ["ms,label,person,ax,ay,az"]
    for n in range(4800):
        label, at = ("wave", "push", "rest")[n // 1600], n % 200 - 90
        moves = label != "rest" and 0 <= at < 40
        turn = np.sin(at / (3 if label == "wave" else 12)) if moves else 0
        values = np.rint(rng.normal([400 * turn, 100 * turn, 1000], 6)).astype(int)
        person = ("anna", "ben")[n // 800 % 2]
        lines.append(",".join([str(20 * n), label, person, *map(str, values)]))
    path = tmp_path_factory.mktemp("log") / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_rate_and_the_channels_reach_the_model(log: Path, tmp_path: Path) -> None:
    windows, model = tmp_path / "w.npz", tmp_path / "m.npz"
    succeed("windows", log, "-o", windows, "--window", 50)
    words = ["--features", "mean,max", "--epochs", 2, "--groups", "groups"]
    succeed("train", windows, "-o", model, *words)
    trained = load_model(model)
    assert trained.features is not None
    assert trained.features.points.rate == 50
    assert trained.feature_names[:3] == ("ax[0]", "ay[0]", "az[0]")
    succeed("export", model, "--c", tmp_path / "c")
    assert " ay " in (tmp_path / "c" / "README.md").read_text()


def test_windows_of_one_class_are_learned(log: Path, tmp_path: Path) -> None:
    rest = [
        line for line in log.read_text().splitlines() if line.split(",")[1] not in ("wave", "push")
    ]
    (tmp_path / "rest.csv").write_text("\n".join(rest) + "\n")
    windows = tmp_path / "w.npz"
    done = succeed("windows", tmp_path / "rest.csv", "-o", windows, "--window", 20)
    words = ["--features", "mean,max,deviation", "--one-class", "--rejection", "5%"]
    (tmp_path / "rows.txt").write_text("".join(f"{row}\n" for row in range(80)))
    words += ["--groups", tmp_path / "rows.txt"]
    done = run("train", windows, "-o", tmp_path / "m.npz", *words)
    assert done.exit_code == 0, done.output
    assert "false alarms" in done.stdout


# --- background noise ----------------------------------------------------------------------------


def table_of(path: Path, samples: np.ndarray, labels: list[str] | None = None) -> Path:
    """Write samples (n, 2) as a table, with a label each if given."""
    rows = [",".join(f"{value:.1f}" for value in row) for row in samples]
    if labels is not None:
        rows = [f"{label},{row}" for label, row in zip(labels, rows, strict=True)]
    path.write_text("\n".join(["x,y" if labels is None else "label,x,y", *rows]) + "\n")
    return path


@pytest.fixture
def hums(tmp_path: Path) -> Path:
    """Give a folder with two recordings of noise, of 200 samples each."""
    rng = np.random.default_rng(1)
    folder = tmp_path / "hums"
    folder.mkdir()
    table_of(folder / "fan.csv", 9 + rng.normal(0, 50, (200, 2)))
    table_of(folder / "rain.csv", rng.normal(0, 20, (200, 2)), ["any"] * 200)
    return folder


def test_noise_waits_for_copies_to_be_mixed_into(
    recording: Path, hums: Path, tmp_path: Path
) -> None:
    cut = ["windows", recording, "--window", 20]
    assert run_json(*cut, "-o", tmp_path / "w.npz", "--noise", hums)["n_noise"] == 20
    assert run_json(*cut, "-o", tmp_path / "plain.npz")["n_noise"] == 0
    with np.load(tmp_path / "w.npz") as noisy, np.load(tmp_path / "plain.npz") as plain:
        assert noisy["background_noise"].shape == (20, 20, 2)
        assert all(np.array_equal(noisy[name], plain[name]) for name in plain)
    options = ["--features", "mean,deviation", "--prototypes", 4, "--epochs", 2]
    trained: dict[tuple[str, int], list[bytes]] = {}
    for name, more in (
        ("w", ["--copies", 2]),
        ("w", ["--copies", 2]),
        ("w", []),
        ("plain", ["--copies", 2]),
        ("plain", []),
    ):
        done = run("train", tmp_path / f"{name}.npz", "-o", tmp_path / "m.npz", *options, *more)
        assert done.exit_code == 0, done.output
        model = load_model(tmp_path / "m.npz")
        model = replace(model, record={**model.record, "file": None})
        trained.setdefault((name, len(more)), []).append(model_bytes(model))
        noise = model.record["settings"]["background_noise"]
        assert (noise or "").startswith("array (20, 40) ") == (name == "w" and bool(more))
    first, again = trained["w", 2]
    assert first == again
    assert trained["w", 0] == trained["plain", 0] != trained["plain", 2] != [first]


def test_noise_can_be_a_class_and_its_test_part_is_not_mixed(
    recording: Path, hums: Path, tmp_path: Path
) -> None:
    words = ["windows", recording, "-o", tmp_path / "w.npz", "--window", 20, "--test", 0.3]
    made = run_json(*words, "--noise", hums, "--background", "nothing")
    assert made["n_of_class"] == {"fast": 10, "slow": 10, "nothing": 14}
    with np.load(tmp_path / "w.npz", allow_pickle=False) as arrays:
        nothing = list(arrays["class_names"]).index("nothing")
        of_class = arrays["X_train"][arrays["y_train"] == nothing]
        assert np.array_equal(arrays["background_noise"], of_class)
        assert np.count_nonzero(arrays["y_test"] == nothing) == 6


def test_noise_that_is_a_class_of_clips_is_mixed_in_at_any_place(tmp_path: Path) -> None:
    words = tmp_path / "words"
    said = 128 + np.rint(90 * np.sin(1.5 * np.arange(700))).astype(int)
    write_sound(words / "beep.wav", np.uint8(np.concatenate([np.full(1000, 128), said] * 4)))
    hiss = np.random.default_rng(1).integers(100, 156, 5120).astype(np.uint8)
    write_sound(tmp_path / "hiss.wav", hiss)
    cut = ["windows", words, "-o", tmp_path / "w.npz", "--window", 512, "--onset", 4]
    made = run_json(*cut, "--noise", tmp_path / "hiss.wav", "--background", "rest", "--test", 0.5)
    assert made["n_of_class"]["rest"] < made["n_noise"] == 5
    with np.load(tmp_path / "w.npz") as written:
        assert np.array_equal(written["background_noise"].ravel(), 4 * hiss[:2560].astype(int))
        assert 1 in written["y_test"]  # the other half
    write_sound(tmp_path / "short.wav", hiss[:1000])
    short = run(*cut, "--noise", tmp_path / "short.wav", "--background", "rest", "--test", 0.5)
    assert "--noise: no recording has at least 512 samples for training" in refusal(short)


def test_noise_in_folders_of_takes_has_groups(hums: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    takes = tmp_path / "takes"
    takes.mkdir()
    for name in ("push.1", "push.2", "pull.1", "pull.2"):
        table_of(takes / f"{name}.csv", rng.normal(0, 300, (60, 2)))
    words = ["windows", takes, "-o", tmp_path / "w.npz", "--window", 20, "--test", 0.5]
    made = run_json(*words, "--noise", hums, "--background", "nothing")
    assert made["n_of_class"] == {"pull": 3, "push": 3, "nothing": 10}
    with np.load(tmp_path / "w.npz", allow_pickle=False) as arrays:
        assert set(arrays["groups"]) == {"push.1.csv", "pull.1.csv", "noise"}


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (
            "x,z",
            "hum.csv lacks some channels of the recording ('y'); use",
        ),
        ("x", "hum.csv lacks some channels of the recording ('y')"),
        ("1,2", "hum.csv has 2 channels without names, but the recording has"),
        ("z,x,y", "--noise: the longest run of equal labels without a gap has 15 samples"),
    ],
)
def test_noise_of_another_sensor_is_one_sentence(
    recording: Path, tmp_path: Path, header: str, sentence: str
) -> None:
    row = ",".join("1" for _ in header.split(","))
    (tmp_path / "hum.csv").write_text("\n".join([header, *([row] * 15)]) + "\n")
    words = ["windows", recording, "-o", tmp_path / "w.npz", "--window", 20]
    assert sentence in refusal(run(*words, "--noise", tmp_path / "hum.csv"))
    assert not (tmp_path / "w.npz").exists()


@pytest.mark.parametrize("background", [[], ["--background", "nothing"]])
def test_noise_that_never_varies_is_said_of_the_noise(
    recording: Path, tmp_path: Path, background: list[str]
) -> None:
    silence = table_of(
        tmp_path / "silence.csv", np.stack([np.ones(40), 7 * np.arange(40) % 11], axis=1)
    )
    words = ["windows", recording, "-o", tmp_path / "w.npz", "--window", 20, "--noise", silence]
    printed = run(*words, *background).stderr
    assert "warning: the noise never varies in 'x'; check its recording" in printed
    assert "training points" not in printed


# --- what `train` makes of windows ----------------------------------------------------------------


def cut(recording: Path, window: int = 50) -> Path:
    """Return the windows of a recording."""
    succeed("windows", recording, "-o", recording.with_suffix(".npz"), "--window", window)
    return recording.with_suffix(".npz")


def table(path: Path, head: str, rows: Iterable[str]) -> Path:
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_training_on_sound_of_a_phone_asks_for_other_recordings(tmp_path: Path) -> None:
    for name in ("hum.wav", "hiss.wav"):
        write_sound(
            tmp_path / "takes" / name, np.uint8(128 + 60 * (np.arange(3000) % 4 < 2)), 44_100
        )
    words = ("train", cut(tmp_path / "takes", 640), "-o", tmp_path / "m.npz")
    refuses(run(*words, "--features", "audio:4x5"), "features.audio.clips")


def test_features_of_windows_are_found_unless_they_are_requested(tmp_path: Path) -> None:
    rows = (f"{10 * i},{i % 7},{i * 7 % 11},{'ab'[i // 100]}" for i in range(200))
    windows = cut(table(tmp_path / "r.csv", "ms,ax,ay,label", rows), 20)
    train = ("train", windows, "-o", tmp_path / "m.npz", "--epochs", 2)
    said = [notice["text"] for notice in run_json(*train)["notices"]]
    assert said[0].startswith("features 'auto' chose mean,deviation,min,max,change,crossings,bands")
    notices = run_json(*train, "--features", "mean,max")["notices"]
    assert not any("features" in notice["text"] for notice in notices if notice["kind"] != "chance")


@pytest.mark.parametrize(("sessions", "told"), [("mt", True), ("m", False)])
def test_groups_are_told_with_the_option_for_them(
    tmp_path: Path, sessions: str, told: bool
) -> None:
    rows = (f"{sessions[i // 50 % len(sessions)]},{i % 7},{'ab'[i // 100]}" for i in range(200))
    path = table(tmp_path / "r.csv", "session,ax,label", rows)
    done = succeed("windows", path, "-o", tmp_path / "w.npz", "--window", 50)
    assert ("), for 'train --groups groups'" in done.stdout) == told


def test_windows_are_no_images_unless_declared_as_such(tmp_path: Path) -> None:
    rows = (f"{i % 7},{i * 7 % 11 * (i // 300)},{'ab'[i // 300]}" for i in range(600))
    windows = cut(table(tmp_path / "r.csv", "ax,ay,label", rows))
    train = ("train", windows, "-o", tmp_path / "m.npz", "--features")
    refuses(run(*train, "gradients:4x2"), "cli.fitting")
    for shape in ((), ("--image-shape", "50x2")):
        succeed(*train, "pool:10x2", "--epochs", 2, *shape)
    refuses(run(*train, "deskew,pool:10x2"), "learn.refusals")


def test_a_rate_that_contradicts_the_windows_is_refused(log: Path, tmp_path: Path) -> None:
    succeed("windows", log, "-o", tmp_path / "w.npz", "--window", 50)  # at 50 Hz
    train = ("train", tmp_path / "w.npz", "-o", tmp_path / "m.npz", "--features", "mean")
    assert refusal(run(*train, "--sample-rate", "100")).startswith(
        "error: --sample-rate is 100, but the data was sampled at 50 Hz; omit --sample-rate"
    )
    assert not (tmp_path / "m.npz").exists()
    succeed(*train, "--epochs", 1, "--sample-rate", "51")


def test_recordings_are_not_points(model: Path, tmp_path: Path) -> None:
    rows = (f"{i % 7},{i % 5},a" for i in range(60))
    day = table(tmp_path / "day.csv", "x (g),y (g),label", rows)
    remedy = "cut this recording into windows with 'protonn-edge windows'"
    assert remedy in refusal(run("predict", model, day))
    sound = write_sound(tmp_path / "clap.wav", np.zeros(3000, np.uint8))
    assert "cut the sound into windows" in refusal(run("predict", model, sound))
