"""Folders as phone apps write them: a folder for each take, with a file for each sensor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, succeed
from refusals import refused_by

from protonn_edge.data.options import TableOptions
from protonn_edge.extensions.sensing.recordings.recorded import Recording, read_recording
from protonn_edge.system.errors import InputError

ROWS = 60
BEGIN_NS = 1_767_225_600_000_000_000
TAKES = [f"{what}_{who}-2026" for what in ("run", "walk") for who in ("anna", "ben")]

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Give a function that writes a file of noise, every 20 ms from a moment on."""
    rng = np.random.default_rng(0)

    def write_file(name: str, header: str, begin_ms: int = 0) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [header]
        for row, point in enumerate(rng.normal(0, 9, (ROWS, header.count(",") + 1)).round(3)):
            ms = begin_ms + 20 * row
            known = {"time": f"{BEGIN_NS + 1_000_000 * ms}", "seconds_elapsed": f"{ms / 1000:.6f}"}
            known['"Time (s)"'] = f"{ms / 1000:.6E}"
            cells = zip(header.split(","), point, strict=True)
            lines.append(",".join(known.get(column, f"{value}") for column, value in cells))
        path.write_text("\n".join(lines) + "\n")

    return write_file


@pytest.fixture
def logger(write: Write, tmp_path: Path) -> Path:
    """Give takes of Sensor Logger."""
    for take in TAKES:
        write(f"{take}/Accelerometer.csv", "time,seconds_elapsed,z,y,x")
        write(f"{take}/Gyroscope.csv", "time,seconds_elapsed,z,y,x", begin_ms=10)
        (tmp_path / take / "Annotation.csv").write_text("time,seconds_elapsed,text\n")
        (tmp_path / take / "Metadata.csv").write_text("version,device name\n3,phone\n")
    return tmp_path


@pytest.fixture
def phyphox(write: Write, tmp_path: Path) -> Path:
    """Give takes of phyphox, with a folder for each class."""
    header = '"Time (s)","Acceleration x (m/s^2)","Acceleration y (m/s^2)"'
    for take in ("walk/anna", "walk/ben", "run/anna", "run/ben"):
        write(f"{take}/Raw Data.csv", header)
        write(f"{take}/meta/device.csv", "property,value")
        write(f"{take}/meta/time.csv", "event,experiment time")
    return tmp_path


def notices(recording: Recording, kind: str) -> list[str]:
    return [each.text for each in recording.dataset.notices if each.kind == kind]


# --- Sensor Logger --------------------------------------------------------------------------------


def test_several_files_in_the_folder_of_a_take_are_asked_about(logger: Path) -> None:
    sentence = refusal(run("windows", logger, "-o", logger / "w.npz", "--window", 20))
    assert "has the files 'Accelerometer.csv', 'Annotation.csv', 'Gyroscope.csv'" in sentence
    assert "choose with --files 'Accelerometer," in sentence
    assert "give --name '{class}/{take}'" in sentence
    assert not (logger / "w.npz").exists()


def test_one_sensor_of_each_take_is_chosen(logger: Path) -> None:
    words = ("--files", "Gyroscope", "--name", "{class}_{person}-{take}", "--window", 20)
    succeed("windows", logger, "-o", logger / "w.npz", *words)
    with np.load(logger / "w.npz") as written:
        assert written["X_train"].shape == (12, 20, 3)
        assert written["channel_names"].tolist() == ["z", "y", "x"]
        assert set(written["groups"].tolist()) == {"anna", "ben"}
        assert float(written["sample_rate"]) == 50


def test_two_sensors_of_each_take_are_joined_in_the_order_given(logger: Path) -> None:
    options = TableOptions(files=("Gyroscope", "Accelerometer.csv"), name="{class}_{take}")
    recording = read_recording(logger, options)
    assert recording.channels[::3] == ("Gyroscope z", "Accelerometer z")
    assert recording.dataset.classes == ("run", "walk")
    assert recording.files == tuple(TAKES)
    (text,) = notices(recording, "joined")
    assert text == "the samples of 'Accelerometer' were interpolated at the times of 'Gyroscope'"
    assert any("not read: 'run_anna-2026/Annotation.csv'" in t for t in notices(recording, "files"))


def test_a_class_for_each_folder_is_questioned(logger: Path) -> None:
    recording = read_recording(logger, TableOptions(files=("Accelerometer",)))
    (text,) = notices(recording, "names")
    assert "if run_anna-2026 belongs to class run, give --name '{class}_{person}-{take}'" in text


def test_a_take_without_a_chosen_file_is_reported(logger: Path) -> None:
    (logger / TAKES[1] / "Gyroscope.csv").unlink()
    options = TableOptions(files=("Accelerometer", "Gyroscope"), name="{class}_{take}")
    recording = read_recording(logger, options)
    assert recording.files == (TAKES[0], *TAKES[2:])
    (text,) = notices(recording, "no_samples")
    assert text.endswith("no labelled samples: 'run_ben-2026'")


def test_files_that_no_take_has_are_named(logger: Path) -> None:
    with refused_by("data.takes"):
        read_recording(logger, TableOptions(files=("Accelerometer", "Gyro")))


def test_a_folder_of_a_class_may_have_takes_of_several_files(write: Write, tmp_path: Path) -> None:
    for take in ("run/1", "run/2", "walk/1"):
        write(f"{take}/Accelerometer.csv", "time,x")
        write(f"{take}/Gyroscope.csv", "time,x")
    recording = read_recording(tmp_path, TableOptions(files=("Accelerometer", "Gyroscope")))
    assert recording.dataset.classes == ("run", "walk")
    assert recording.files == ("run/1", "run/2", "walk/1")
    assert recording.samples.shape == (3 * ROWS, 2)
    with pytest.raises(InputError, match="run/1 has the files 'Accelerometer.csv', 'Gyroscope"):
        read_recording(tmp_path)


@pytest.mark.parametrize("begin_ms", [0, 5])
def test_files_of_each_class_at_the_same_times_are_asked_about(
    write: Write, tmp_path: Path, begin_ms: int
) -> None:
    for label in ("run", "walk"):
        write(f"{label}/Accelerometer.csv", "time,x")
        write(f"{label}/Gyroscope.csv", "time,x", begin_ms)
    with pytest.raises(InputError, match="choose with --files 'Accelerometer,Gyroscope', and if"):
        read_recording(tmp_path)
    joined = read_recording(tmp_path, TableOptions(files=("Accelerometer", "Gyroscope")))
    assert joined.channels == ("Accelerometer x", "Gyroscope x")
    takes = read_recording(tmp_path, TableOptions(name="{class}/{take}"))
    assert (takes.channels, len(takes.files)) == (("x",), 4)


def test_files_with_other_channels_may_be_sensors_too(write: Write, tmp_path: Path) -> None:
    for label in ("run", "walk"):
        write(f"{label}/Accelerometer.csv", "time,ax")
        write(f"{label}/Gyroscope.csv", "time,gx")
    with pytest.raises(InputError, match="choose with --files 'Accelerometer,Gyroscope'"):
        read_recording(tmp_path)
    joined = read_recording(tmp_path, TableOptions(files=("Accelerometer", "Gyroscope")))
    assert joined.channels == ("ax", "gx")


def test_files_of_each_class_at_other_times_are_takes(write: Write, tmp_path: Path) -> None:
    for number, name in enumerate(("monday", "friday")):
        write(f"run/{name}.csv", "time,x", 3000 * number)
        write(f"walk/{name}.csv", "time,x", 7000 * number)
    assert len(read_recording(tmp_path).files) == 4


# --- phyphox --------------------------------------------------------------------------------------


def test_the_folder_of_a_take_may_have_folders_of_its_own(phyphox: Path) -> None:
    recording = read_recording(phyphox)
    assert recording.dataset.classes == ("run", "walk")
    assert recording.files[:2] == ("run/anna/Raw Data.csv", "run/ben/Raw Data.csv")
    assert np.flatnonzero(recording.seams).tolist() == [ROWS, 2 * ROWS, 3 * ROWS]
    assert recording.rate == 50
    assert str(recording.dataset.instrument) == "an unknown sensor (m/s^2)"


def test_what_apps_and_archives_add_to_every_take_is_not_reported(
    phyphox: Path, write: Write
) -> None:
    (phyphox / "__MACOSX" / "walk").mkdir(parents=True)
    assert not notices(read_recording(phyphox), "no_samples")
    (phyphox / "walk" / "ben" / "photos").mkdir()
    (phyphox / "meta").mkdir()
    (text,) = notices(read_recording(phyphox), "no_samples")
    assert text.endswith("no labelled samples: 'meta', 'walk/ben/photos'")


def test_a_pattern_with_a_slash_reads_names_of_folders(phyphox: Path) -> None:
    recording = read_recording(phyphox, TableOptions(name="{class}/{person}"))
    assert recording.groups is not None
    assert set(recording.groups) == {"anna", "ben"}
    with pytest.raises(InputError, match="does not match the pattern '{class}/{person}_{take}'"):
        read_recording(phyphox, TableOptions(name="{class}/{person}_{take}"))


def test_channels_get_the_names_of_a_sensor(phyphox: Path) -> None:
    chosen = "ay=Acceleration y,ax=Acceleration x (m/s^2)"
    words = ("--channels", f"{chosen}", "--window", 20)
    succeed("windows", phyphox, "-o", phyphox / "w.npz", *words)
    with np.load(phyphox / "w.npz") as written:
        assert written["channel_names"].tolist() == ["ay", "ax"]
    recording = read_recording(phyphox, TableOptions(channels=tuple(chosen.split(","))))
    plain = read_recording(phyphox)
    assert np.array_equal(recording.samples, plain.samples[:, ::-1])
    assert recording.dataset.instrument == plain.dataset.instrument


def test_a_channel_that_is_not_there_is_refused_with_a_hint(phyphox: Path) -> None:
    with refused_by("data.named", naming="did you mean"):
        read_recording(phyphox, TableOptions(channels=("az=Acceleration z",)))


# --- folders with one file each -------------------------------------------------------------------


def test_folders_of_single_files_are_called_after_their_takes(write: Write, tmp_path: Path) -> None:
    """The pattern was compared with the file's name, which is the same in all folders."""
    for take in ("chop_mia_1 2026", "chop_tim_1 2026", "stir_mia_1 2026", "stir_tim_1 2026"):
        write(f"{take}/Raw Data.csv", '"Time (s)","x"')
    recording = read_recording(tmp_path, TableOptions(name="{class}_{person}_{take}"))
    assert recording.dataset.classes == ("chop", "stir")
    assert recording.groups is not None
    assert set(recording.groups) == {"mia", "tim"}
    (text,) = notices(read_recording(tmp_path), "names")
    assert "belongs to class chop, give --name " in text


@pytest.mark.parametrize("name", ["take.zip", "walk/take.ZIP"])
def test_packed_takes_are_to_be_unpacked(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(InputError, match=r"unpack each \.zip first"):
        read_recording(tmp_path)
