"""Recordings hold what the sensor gave: over a bad line, across kills, with takes thrown away."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json, succeed
from extensions.sensing.lines import Line, sent
from extensions.sensing.lines import logger as described
from extensions.sensing.logger_builds import compile_logger, listening, noise
from failing_link import FailingLink, Faults
from programs import started
from refusals import refused_by

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.extensions.sensing.commands.record import act_on, picture
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.recorder import Recorder, RecordingFile, SampleStream
from protonn_edge.extensions.sensing.sensor_board import LoggerDescription, SamplesMessage
from protonn_edge.system.errors import InputError

PLAYED = noise(700, 6)
RATE = 100.0
DESCRIPTION = LoggerDescription(1, 3, 6, 1, 160_000, 16_000_000, bytes(6))


@pytest.fixture(scope="module")
def logger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_logger(tmp_path_factory.mktemp("logger"), RATE, "mpu6050")


@pytest.fixture
def uno(logger: Path) -> Iterator[EmulatedUno]:
    with EmulatedUno(logger, sensors=[PlayedSensor(sensor_kind("mpu6050"), PLAYED, RATE)]) as board:
        yield board


def rows(path: Path) -> tuple[list[str], list[str], np.ndarray, np.ndarray]:
    """Return labels, sessions, times and values of a recording."""
    lines = path.read_text().splitlines()
    assert lines[0].startswith("# protonn-edge recording 1; sensor: mpu6050; rate: 100 Hz; units:")
    assert lines[1] == "label,session,time,ax,ay,az,gx,gy,gz"
    cells = [line.split(",") for line in lines[2:]]
    times = np.array([float(row[2]) for row in cells])
    values = np.array([row[3:] for row in cells], dtype=np.int16).reshape(-1, 6)
    return [row[0] for row in cells], [row[1] for row in cells], times, values


def assert_rows_played(times: np.ndarray, values: np.ndarray) -> None:
    """Check rows against what was played at their times; the first says where that began."""
    (first,) = np.flatnonzero((values[0] == PLAYED).all(axis=1))
    numbers = first + np.rint((times - times[0]) * RATE).astype(int)
    assert np.array_equal(values, PLAYED[numbers % len(PLAYED)])


# --- through the command -------------------------------------------------------------------------


@needs_emulated_avr
def test_recorded_takes_are_what_was_played_and_are_cut_into_windows(tmp_path: Path) -> None:
    played, logger, recording = tmp_path / "p.csv", tmp_path / "logger", tmp_path / "r.csv"
    table = "\n".join(",".join(map(str, row)) for row in PLAYED.tolist())
    played.write_text(f"# rate: 100 Hz\nax,ay,az,gx,gy,gz\n{table}\n")
    succeed("build", "--sensor", "mpu6050", "--rate", 100, "-o", logger)
    again = ["record", "-o", recording, "--emulate", "--project", logger, "--seconds", 2]
    again += ["--sensor", f"mpu6050={played}", "--takes", 2]
    record = run_json(*again, "--label", "rest", "--label", "wave", "--pause", 0.5)
    assert record["takes"] == [
        {"label": label, "samples": 200, "lost": 0} for label in ("rest", "rest", "wave", "wave")
    ]
    assert (record["rate"], record["lost"], record["torn_frames"]) == (100, 0, 0)
    labels, sessions, times, values = rows(recording)
    assert labels == ["rest"] * 400 + ["wave"] * 400
    assert_rows_played(times, values)
    succeed(*again, "--label", "rest", "--session", "monday")
    _, sessions, times, _ = rows(recording)
    assert sessions == ["session-1"] * 800 + ["monday"] * 400
    assert np.all(np.diff(times) > 0)
    windows = run_json("windows", recording, "-o", tmp_path / "w.npz", "--window", 100)
    assert windows["n_of_class"] == {"rest": 8, "wave": 4}
    assert windows["channel_names"] == ["ax", "ay", "az", "gx", "gy", "gz"]
    assert windows["groups"] == 2


def test_another_file_is_not_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("label,a,b\nx,1,2\n")
    with refused_by("extensions.sensing.recorder"):
        RecordingFile(path, DESCRIPTION, "s")
    assert path.read_text() == "label,a,b\nx,1,2\n"


# --- another program saves the file ---------------------------------------------------------------


def saved_by_an_editor(path: Path, content: bytes) -> None:
    """Put a new file in the place of a recording, as editors do."""
    path.with_name("new").write_bytes(content)
    path.with_name("new").replace(path)


def test_takes_after_the_file_was_replaced_are_in_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    with RecordingFile(path, DESCRIPTION, "s") as file:
        file.append("rest", np.arange(3.0), PLAYED[:3])
        file.begin_take()
        file.append("wave", np.arange(3.0, 5.0), PLAYED[3:5])
        edited = path.read_bytes().replace(b"rest", b"still")
        saved_by_an_editor(path, edited)
        file.append("wave", np.arange(5.0, 6.0), PLAYED[5:6])
        saved_by_an_editor(path, edited)  # it had not read the last row
        file.append("wave", np.arange(6.0, 8.0), PLAYED[6:8])
    labels, _, times, values = rows(path)
    assert labels == ["still"] * 3 + ["wave"] * 5
    assert np.array_equal(times, np.arange(8.0))
    assert np.array_equal(values, PLAYED[:8])
    # The rows with another label are not those of this run.
    assert file.saved == path.with_name("r.csv.replaced-1")
    assert b"\nrest,s,2.0" in file.saved.read_bytes()


def test_takes_that_the_new_file_lacks_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    with RecordingFile(path, DESCRIPTION, "s") as file:
        read = path.read_bytes()
        file.begin_take()
        file.append("rest", np.arange(3.0), PLAYED[:3])
        file.begin_take()
        file.append("wave", np.arange(3.0, 5.0), PLAYED[3:5])
        whole = path.read_bytes()
        saved_by_an_editor(path, read)
    assert file.saved is not None
    assert file.saved.read_bytes() == whole
    assert rows(path)[0] == ["wave"] * 2


def test_a_file_that_was_removed_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    with RecordingFile(path, DESCRIPTION, "s") as file:
        file.begin_take()
        file.append("rest", np.arange(3.0), PLAYED[:3])
        path.unlink()
        file.append("rest", np.arange(3.0, 5.0), PLAYED[3:5])
        file.discard_take()
        file.append("wave", np.arange(5.0, 6.0), PLAYED[5:6])
    assert (rows(path)[0], file.saved) == (["wave"], None)


def test_another_file_in_its_place_is_left_alone_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    with RecordingFile(path, DESCRIPTION, "s") as file:
        file.append("rest", np.arange(3.0), PLAYED[:3])
        saved_by_an_editor(path, b"label,a\nx,1\n")
        with pytest.raises(InputError, match="all samples until then are in"):
            file.append("rest", np.arange(3.0), PLAYED[:3])
        assert path.read_bytes() == b"label,a\nx,1\n"
        assert rows(path.with_name("r.csv.replaced-1"))[0] == ["rest"] * 3
        path.unlink()
    assert rows(path)[0] == ["rest"] * 3


# --- what goes wrong ------------------------------------------------------------------------------


@needs_emulated_avr
def test_over_a_line_that_drops_bytes_every_lost_sample_is_known_and_none_is_wrong(
    uno: EmulatedUno, tmp_path: Path
) -> None:
    faults = Faults(drop=0.001, flip=0.0005, double=0.0005, split=0.01)
    with (
        FailingLink(uno.port, faults, seed=3) as link,
        listening(link.url) as line,
    ):
        recorder = Recorder(line, link.url)
        recorder.wait()
        with RecordingFile(tmp_path / "r.csv", DESCRIPTION, "bad-line") as file:
            recorder.record_to(file)
            recorder.begin("wave", 40.0, 0.0)
            while not recorder.takes:
                recorder.listen()
        assert link.done.dropped > 0
    (take,) = recorder.takes
    _, _, times, values = rows(tmp_path / "r.csv")
    first = take.first
    assert first is not None
    numbers = np.rint(times * RATE).astype(int) + first
    assert np.array_equal(values, PLAYED[numbers % len(PLAYED)])
    assert take.kept == len(times)
    assert take.lost == 4000 - take.kept > 0
    assert recorder.stream.torn > 0


@needs_emulated_avr
def test_a_run_that_is_killed_loses_nothing(logger: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    program = "from protonn_edge.cli import main; main()"
    before = 0
    with EmulatedUno(
        logger, sensors=[PlayedSensor(sensor_kind("mpu6050"), PLAYED, RATE)], wire_speed=True
    ) as board:
        for _ in range(3):
            words = ["record", "-o", str(path), "--port", board.url, "--label", "wave"]
            words += ["--seconds", "600", "--takes", "1", "--pause", "0"]
            with started(sys.executable, "-c", program, *words) as process:
                while count_of(path) < before + 30:
                    assert process.poll() is None
                    time.sleep(0.02)
            kept = path.read_bytes()
            path.write_bytes(kept + b"wave,session-1,1.0")  # as if it had been torn in a row
            before = count_of(path)
    with RecordingFile(path, DESCRIPTION, "s"):
        assert path.read_bytes() == kept  # all that the three have written, and whole rows
    _, _, times, values = rows(path)
    begins = [0, *(np.flatnonzero(np.diff(times) > 0.5) + 1).tolist(), len(times)]
    assert len(begins) == 4
    for begin, end in pairwise(begins):
        assert end - begin >= 30
        assert np.allclose(np.diff(times[begin:end]), 0.01)
        assert_rows_played(times[begin:end], values[begin:end])


def count_of(path: Path) -> int:
    return max(0, path.read_bytes().count(b"\n") - 2) if path.exists() else 0


def test_a_recording_is_written_by_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        RecordingFile(tmp_path / "r.csv", DESCRIPTION, "s"),
        refused_by("system.files"),
    ):
        RecordingFile(tmp_path / "r.csv", DESCRIPTION, "s")


def test_a_recording_of_another_rate_is_not_appended_to(tmp_path: Path) -> None:
    with RecordingFile(tmp_path / "r.csv", DESCRIPTION, "s"):
        pass
    other = replace(DESCRIPTION, period_cycles=320_000)
    with refused_by("extensions.sensing.recorder"):
        RecordingFile(tmp_path / "r.csv", other, "s")


@pytest.mark.parametrize("session", ["2", "nan", "", "2026-11-21"])
def test_a_session_begins_with_a_letter(tmp_path: Path, session: str) -> None:
    with refused_by("data.naming", "extensions.sensing.recorder"):
        RecordingFile(tmp_path / "r.csv", DESCRIPTION, session)


# --- damaged ends ---------------------------------------------------------------------------------


def append(path: Path, label: str, n: int) -> None:
    with RecordingFile(path, DESCRIPTION, "first") as file:
        times = file.begin_s + np.arange(n) / 100
        file.append(label, times, np.full((n, 6), -1, np.int16))


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    append(tmp_path / "r.csv", 'a "label", quoted', 3)
    return tmp_path / "r.csv"


def test_a_recording_that_is_cut_off_anywhere_goes_on_in_a_new_row(torn: Path) -> None:
    whole = torn.read_bytes()
    for cut in range(len(whole)):
        torn.write_bytes(whole[:cut])
        append(torn, "b", 2)
        found = torn.read_bytes().splitlines()
        kept = max(2, whole[:cut].count(b"\n"))  # with the head
        assert found[:kept] == whole.splitlines()[:kept]
        assert [row[:8] for row in found[kept:]] == [b"b,first,"] * 2


@pytest.mark.parametrize(
    "end",
    [
        *(b"\0" * 70_000, b"x" * 70_000, b"\n", b"b,first\n"),
        *(b"b,first,nan,1,2,3,4,5,6\n", b"b,first,1e400,1,2,3,4,5,6\n", b"b,first,1.0,1,2\n"),
    ],
)
def test_a_recording_that_ends_in_no_row_is_refused_and_kept(torn: Path, end: bytes) -> None:
    damaged = torn.read_bytes() + end
    torn.write_bytes(damaged)
    with pytest.raises(InputError, match="the last row is not a sample"):
        append(torn, "b", 2)
    assert torn.read_bytes() == damaged


# --- frames and keys, without a board -------------------------------------------------------------


def sampled(first: int, count: int = 5, lost: int = 0) -> bytes:
    values = PLAYED[first : first + count].astype("<i2")
    return sent(SamplesMessage(first, lost, values.tobytes()))


def test_lost_samples_are_told_apart_by_where_they_were_lost() -> None:
    stream = SampleStream()
    found = stream.feed(described() + sampled(0) + sampled(5)[3:] + sampled(12, lost=2))
    assert [(piece.first, len(piece.values)) for piece in found] == [(0, 5), (12, 5)]
    assert (stream.torn, stream.lost, stream.lost_on_board) == (1, 7, 2)


def test_keys_begin_and_end_takes_and_throw_the_last_one_away(tmp_path: Path) -> None:
    recorder = Recorder(Line(described(), then=map(sampled, count(0, 5))), "there")
    recorder.wait()
    labels = ("rest", "wave")
    path = tmp_path / "r.csv"
    with RecordingFile(path, recorder.description, "s") as file:
        recorder.record_to(file)
        for key in ("1", "", " ", "", "2", "", "x", "2", "", "", "q"):
            going_on = act_on(recorder, key, labels, None, 0.0)
            recorder.listen()
        assert not going_on
        picture(recorder, labels)
        recorder.end()
        assert recorder.discarded == 1
        assert act_on(recorder, "x", labels, None, 0.0)
        assert not recorder.discard()  # only the last take can be taken back
    found, _, times, values = rows(path)
    assert set(found) == {"rest"}
    assert_rows_played(times, values)
    assert json.dumps(recorder.discarded) == "2"


def test_a_board_that_is_reset_ends_the_take_and_time_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    recorder = Recorder(Line(described(), sampled(0), sampled(0), sampled(5)), "there")
    recorder.wait()
    with RecordingFile(path, recorder.description, "s") as file:
        recorder.record_to(file)
        recorder.begin("rest", None, 0.0)
        recorder.listen()
        recorder.listen()
        assert recorder.take is None
        recorder.begin("rest", None, 0.0)
        recorder.listen()
    assert recorder.stream.resets == 1
    _, _, times, _ = rows(path)
    assert np.all(np.diff(times) > 0)
    assert np.diff(times).max() > 1
