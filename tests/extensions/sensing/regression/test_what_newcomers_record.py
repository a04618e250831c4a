"""Tables without labels, folders of unlike files and WAV files of a phone, told in their terms."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest
from command_line import run, run_json, succeed
from refusals import refuses


def table(path: Path, head: str, rows: list[str]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def sound(path: Path, rate: int = 8000, channels: int = 1) -> Path:
    path.parent.mkdir(exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 1, rate, 0, "NONE", ""))
        file.writeframes(bytes(128 + 60 * (i // channels % 4 < 2) for i in range(3000 * channels)))
    return path


def cut(recording: Path, *more: object) -> tuple[object, ...]:
    return "windows", recording, "-o", recording.with_suffix(".npz"), "--window", 50, *more


def test_files_of_other_channels_are_told_without_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    sound(folder / "hum.wav")
    table(folder / "walk.csv", "ax,ay", [f"{i % 9},{i % 7}" for i in range(99)])
    refuses(run(*cut(folder)), "extensions.sensing.recordings.recorded")
    (folder / "hum.wav").unlink()
    table(folder / "hum.csv", "ax,az", [f"{i % 9},{i % 7}" for i in range(99)])
    refuses(run(*cut(folder)), "data.points")


@pytest.mark.parametrize(("rate", "told"), [(44_100, 1), (8000, 0)])
def test_sound_that_no_board_samples_is_told_when_it_is_cut(
    tmp_path: Path, rate: int, told: int
) -> None:
    done = run_json(*cut(sound(tmp_path / "hum.wav", rate)))
    said = [notice["text"] for notice in done["notices"] or ()]
    assert sum("more than the 9,000 that a board can sample" in text for text in said) == told


def test_training_on_sound_of_a_phone_asks_for_other_recordings(tmp_path: Path) -> None:
    for name in ("hum.wav", "hiss.wav"):
        sound(tmp_path / "takes" / name, 44_100)
    run_json(*cut(tmp_path / "takes")[:-1], 640)
    train = ("train", tmp_path / "takes.npz", "-o", tmp_path / "m.npz", "--features", "audio:4x5")
    refuses(run(*train), "features.audio.clips")


def test_features_of_windows_are_found_unless_they_are_requested(tmp_path: Path) -> None:
    rows = [f"{10 * i},{i % 7},{i * 7 % 11},{'ab'[i // 100]}" for i in range(200)]
    run_json(*cut(table(tmp_path / "r.csv", "ms,ax,ay,label", rows))[:-1], 20)
    train = ("train", tmp_path / "r.npz", "-o", tmp_path / "m.npz", "--epochs", 2)
    said = [notice["text"] for notice in run_json(*train)["notices"]]
    assert said[0].startswith("features 'auto' chose mean,deviation,min,max,change,crossings,bands")
    notices = run_json(*train, "--features", "mean,max")["notices"]
    assert not any("features" in notice["text"] for notice in notices if notice["kind"] != "chance")


@pytest.mark.parametrize(("sessions", "told"), [("mt", True), ("m", False)])
def test_groups_are_told_with_the_option_for_them(
    tmp_path: Path, sessions: str, told: bool
) -> None:
    rows = [
        f"{sessions[i % 100 // 50 % len(sessions)]},{i % 7},{'ab'[i // 100]}" for i in range(200)
    ]
    done = succeed(*cut(table(tmp_path / "r.csv", "session,ax,label", rows)))
    assert ("), for 'train --groups groups'" in done.stdout) == told


def test_what_of_a_folder_is_not_read_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    for name, period in (("rest/1.csv", 9), ("wave/2.csv", 8)):
        (folder / name).parent.mkdir(parents=True)
        table(folder / name, "ax,ay", [f"{i % period},{i % 7}" for i in range(99)])
    plain = run_json(*cut(folder))
    assert plain["notices"] == []
    (folder / "wave" / "3.m4a").touch()
    (folder / ".hidden").touch()
    (folder / "circle").mkdir()
    (folder / "circle" / "4.m4a").touch()
    table(folder / "rest" / "5.csv", "ax,ay", [])
    done = run_json(*cut(folder))
    assert [(notice["text"], notice["warning"]) for notice in done["notices"]] == [
        (
            "files that are neither .csv, .tsv, .wav, .json nor .cbor were not read: 'wave/3.m4a'",
            False,
        ),
        ("left out because they have no labelled samples: 'circle', 'rest/5.csv'", True),
    ]
    assert done["n_of_class"] == plain["n_of_class"]


def test_windows_are_no_images_unless_declared_as_such(tmp_path: Path) -> None:
    rows = [f"{i % 7},{i * 7 % 11 * (i // 300)},{'ab'[i // 300]}" for i in range(600)]
    succeed(*cut(table(tmp_path / "r.csv", "ax,ay,label", rows)))
    train = ("train", tmp_path / "r.npz", "-o", tmp_path / "m.npz", "--features")
    refuses(run(*train, "gradients:4x2"), "cli.fitting")
    for shape in ((), ("--image-shape", "50x2")):
        succeed(*train, "pool:10x2", "--epochs", 2, *shape)
    refuses(run(*train, "deskew,pool:10x2"), "learn.refusals")
