"""From a recording, or raw windows, to a model of windows that builds and verifies."""

from __future__ import annotations

import json
import wave
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import refusal, run, run_json
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
    done = run("windows", recording, "-o", path, "--window", 20, "--stride", 5, "--test", 0.4)
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="module")
def model(windows: Path) -> Path:
    path = windows.with_name("model.npz")
    options = ["--features", FEATURES, "--prototypes", 4, "--epochs", 30, "--sample-rate", "50"]
    done = run("train", windows, "-o", path, *options)
    assert done.exit_code == 0, done.output
    return path


def test_windows_are_cut_from_runs(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "windows.npz"
    done = run("windows", recording, "-o", path, "--window", 30, "--json")
    assert json.loads(done.stdout)["n_train"] == 18
    with np.load(path, allow_pickle=False) as arrays:
        assert set(arrays) == {"X_train", "y_train", "class_names", "channel_names"}
        assert arrays["X_train"].shape == (18, 30, 2)
        assert arrays["class_names"][arrays["y_train"]][:4].tolist() == ["slow"] * 3 + ["fast"]


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
        (["--window", 101], "longest run of equal labels without a gap has 100 samples"),
        (["--window", 1], "--window"),
        (["--window", 20, "--test", 1], "--test"),
    ],
)
def test_a_recording_without_windows_is_one_sentence(
    recording: Path, tmp_path: Path, options: list[object], sentence: str
) -> None:
    done = run("windows", recording, "-o", tmp_path / "windows.npz", *options)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())


def test_a_data_set_of_another_name_is_refused(recording: Path) -> None:
    done = run("windows", recording, "-o", recording.with_suffix(".txt"), "--window", 20)
    assert done.exit_code == 2
    assert "must end in .npz" in done.output


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


def test_gestures_are_cut_where_they_move(log: Path, tmp_path: Path) -> None:
    options = ["--window", 50, "--trigger", "auto", "--channels", "az,ax", "--test", 0.25]
    record = json.loads(run("windows", log, "-o", tmp_path / "w.npz", *options, "--json").stdout)
    assert record["n_of_class"] == {"push": 6, "rest": 24, "wave": 6}
    assert record["n_test"] == 4 + 8
    assert record["channel_names"] == ["az", "ax"]
    assert (record["sample_rate"], record["groups"]) == (50, 2)
    assert record["trigger"] > 0
    (still,) = (each for each in record["notices"] if each["kind"] == "still")
    assert still["columns"] == ["rest"]


def test_the_rate_and_the_channels_reach_the_model(log: Path, tmp_path: Path) -> None:
    windows, model = tmp_path / "w.npz", tmp_path / "m.npz"
    done = run("windows", log, "-o", windows, "--window", 50)
    assert done.exit_code == 0, done.output
    words = ["--features", "mean,max", "--epochs", 2, "--groups", "groups"]
    done = run("train", windows, "-o", model, *words)
    assert done.exit_code == 0, done.output
    trained = load_model(model)
    assert trained.features is not None
    assert trained.features.points.rate == 50
    assert trained.feature_names[:3] == ("ax[0]", "ay[0]", "az[0]")
    done = run("export", model, "--c", tmp_path / "c")
    assert done.exit_code == 0, done.output
    assert " ay " in (tmp_path / "c" / "README.md").read_text()


def test_windows_of_one_class_are_learned(log: Path, tmp_path: Path) -> None:
    rest = [
        line for line in log.read_text().splitlines() if line.split(",")[1] not in ("wave", "push")
    ]
    (tmp_path / "rest.csv").write_text("\n".join(rest) + "\n")
    windows = tmp_path / "w.npz"
    done = run("windows", tmp_path / "rest.csv", "-o", windows, "--window", 20)
    assert done.exit_code == 0, done.output
    words = ["--features", "mean,max,deviation", "--one-class", "--rejection", "5%"]
    (tmp_path / "rows.txt").write_text("".join(f"{row}\n" for row in range(80)))
    words += ["--groups", tmp_path / "rows.txt"]
    done = run("train", windows, "-o", tmp_path / "m.npz", *words)
    assert done.exit_code == 0, done.output
    assert "false alarms" in done.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--trigger", "auto,after=5"], "is not one of before=..."),
        (["--trigger", "auto", "--stride", 5], "--stride and --trigger cannot be used"),
        (
            ["--trigger", "auto,before=50"],
            "--trigger has before=50, but a window has only 50 samples",
        ),
        (["--trigger", "often"], "neither a number above 0 nor 'auto'"),
        (["--channels", "ax,bx"], "--channels is 'bx', which is not a column"),
        (["--time", "when"], "--time is 'when', which is not a column"),
    ],
)
def test_cutting_that_cannot_be_meant_is_one_sentence(
    log: Path, tmp_path: Path, options: list[object], sentence: str
) -> None:
    done = run("windows", log, "-o", tmp_path / "w.npz", "--window", 50, *options)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())


def test_a_column_called_as_a_time_is_no_channel(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"{n % 3},{n % 7},{'ab'[n // 20]}" for n in range(40)]
    path.write_text("\n".join(["t,ax,label", *rows]) + "\n")
    cut = ("windows", path, "-o", tmp_path / "w.npz", "--window", 5)
    made = run_json(*cut)
    assert made["channel_names"] == ["ax"]
    (told,) = (each for each in made["notices"] if each["kind"] == "left_out")
    assert told["columns"] == ["t"]
    assert run_json(*cut, "--keep", "t")["channel_names"] == ["t", "ax"]


def sound_of(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", ""))
        sound.writeframes(samples.astype(np.uint8).tobytes())


def test_a_rate_other_than_the_file_is_told(tmp_path: Path) -> None:
    sound_of(tmp_path / "hum.wav", np.arange(1000) % 9)
    cut = ["windows", tmp_path / "hum.wav", "-o", tmp_path / "w.npz", "--window", 100]
    made = run_json(*cut, "--rate", 16_000, "--label", "hum")
    assert made["sample_rate"] == 16_000
    assert "has 8000 samples a second" in str(made["notices"])
    assert "8000" not in str(run_json(*cut, "--rate", 8_000, "--label", "hum")["notices"])


def test_clips_are_cut_where_sound_begins(tmp_path: Path) -> None:
    quiet, t = np.full(1000, 128), np.arange(700)
    for name, speed in (("hum", 0.3), ("beep", 1.5), ("nothing", 0.0)):
        said = 128 + np.rint(90 * np.sin(speed * t)).astype(int)
        sound_of(tmp_path / f"{name}.wav", np.concatenate([quiet, said] * 4))
    words = ["windows", tmp_path, "-o", tmp_path / "w.npz", "--window", 512, "--onset"]
    done = run_json(*words, 4)
    assert done["n_of_class"] == {"beep": 4, "hum": 4, "nothing": 0}
    with np.load(tmp_path / "w.npz") as written:
        firsts = written["X_train"][:, :, 0]
        assert (firsts[:, 0] != 512).all()  # it begins with the sound
        assert written["class_names"].tolist() == ["beep", "hum"]
    assert "at the trigger level 200, there is no training window" in refusal(run(*words, 200))


def test_samples_without_a_label_are_a_class_if_it_has_a_name(tmp_path: Path) -> None:
    lines = [f"{row % 7},{row % 5},{'' if row // 40 % 2 else 'wave'}" for row in range(400)]
    (tmp_path / "r.csv").write_text("\n".join(["x,y,label", *lines]) + "\n")
    cut = ["windows", tmp_path / "r.csv", "-o", tmp_path / "w.npz", "--window", 20]
    refused = run(*cut)
    assert refused.exit_code == 2
    assert (
        "r.csv:42 has no label in column 3; correct or drop the row, use --missing drop or,"
        in refused.stderr
    )
    assert run(*cut, "--background", " ").exit_code == 2
    assert not (tmp_path / "w.npz").exists()
    done = run_json(*cut, "--background", "nothing")
    assert not any(each["warning"] for each in done["notices"])
    with np.load(tmp_path / "w.npz", allow_pickle=False) as made:
        assert list(made["class_names"]) == ["nothing", "wave"]
        assert list(np.bincount(made["y_train"])) == [10, 10]
    cut[1] = tmp_path / "all.csv"
    cut[1].write_text((tmp_path / "r.csv").read_text().replace(",\n", ",rest\n"))
    done = run_json(*cut, "--background", "nothing")
    assert [each["kind"] for each in done["notices"] if each["warning"]] == ["background"]


def test_onsets_are_of_one_channel_and_alone(recording: Path, tmp_path: Path) -> None:
    words = ["windows", recording, "-o", tmp_path / "w.npz", "--window", 20, "--onset", 4]
    refuses(run(*words), "extensions.sensing.commands.windows")
    for more in (["--stride", 5], ["--trigger", "auto"]):
        refuses(run(*words, *more), "cli.command")


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
    words.mkdir()
    said = 128 + np.rint(90 * np.sin(1.5 * np.arange(700))).astype(int)
    sound_of(words / "beep.wav", np.concatenate([np.full(1000, 128), said] * 4))
    hiss = np.random.default_rng(1).integers(100, 156, 5120)
    sound_of(tmp_path / "hiss.wav", hiss)
    cut = ["windows", words, "-o", tmp_path / "w.npz", "--window", 512, "--onset", 4]
    made = run_json(*cut, "--noise", tmp_path / "hiss.wav", "--background", "rest", "--test", 0.5)
    assert made["n_of_class"]["rest"] < made["n_noise"] == 5
    with np.load(tmp_path / "w.npz") as written:
        assert np.array_equal(written["background_noise"].ravel(), 4 * hiss[:2560])
        assert 1 in written["y_test"]  # the other half
    sound_of(tmp_path / "short.wav", hiss[:1000])
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
