"""Which port a command listens to, and which sensors an emulated board has, is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import refusal, run, succeed
from model_factory import random_window_model, window_features_of
from refusals import refused_by

from protonn_edge.chips.toolchain.ports import FoundPort
from protonn_edge.extensions.sensing.commands import source
from protonn_edge.extensions.sensing.commands.source import rates_unlike
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor, check_read
from protonn_edge.model.file import save_model


def played(name: str, rate: float = 100.0) -> PlayedSensor:
    kind = sensor_kind(name)
    return PlayedSensor(kind, np.zeros((1, len(kind.channels)), np.int16), rate)


@pytest.mark.parametrize(
    ("names", "reads"),
    [
        (["mpu6050"], ["mpu6050"]),
        (["microphone"], ["microphone"]),
        (["a0"], ["microphone"]),
        (["microphone"], ["a0"]),
        (["a1"], ["a0", "a1"]),
        (["a1"], ["analog"]),
    ],
)
def test_what_is_read_is_played(names: list[str], reads: list[str]) -> None:
    check_read(list(map(played, names)), reads)


@pytest.mark.parametrize(
    ("names", "reads"),
    [
        (["mpu6050"], ["microphone"]),
        (["mpu6050"], ["analog"]),
        (["adxl345"], ["mpu6050"]),
        (["a1"], ["microphone"]),
        (["a1"], ["a0"]),
        *(([], reads) for reads in (["analog"], ["a0", "a1"], ["microphone"])),
    ],
)
def test_what_is_not_read_is_refused(names: list[str], reads: list[str]) -> None:
    with refused_by("extensions.sensing.played"):
        check_read(list(map(played, names)), reads)
    check_read([], reads, emulate=False)


@pytest.mark.parametrize(
    ("rate", "words"),
    [(50, ["some samples are repeated"]), (200, ["some samples are left out"]), (100.5, [])],
)
def test_a_rate_that_is_not_the_firmwares_is_told(rate: float, words: list[str]) -> None:
    told = [notice.text for notice in rates_unlike([played("a0", rate)], 100)]
    assert [text.rpartition("the firmware reads 100, so ")[2] for text in told] == words


@pytest.mark.parametrize(
    "words", [["record", "-o", "r.csv", "--label", "x", "--seconds", 1, "--takes", 1], ["monitor"]]
)
def test_the_port_that_was_found_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[object]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = FoundPort(str(tmp_path / "none"), "an Uno")
    monkeypatch.setattr(source, "find_port", lambda _: found)
    assert f"listening to {found.device}: an Uno" in run(*words).output.replace("\n", "")


@needs_emulated_avr
def test_a_logger_and_a_model_of_an_analog_input_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("light.csv").write_text("# rate: 50 Hz\na0\n" + "".join(f"{i % 9}\n" for i in range(99)))
    succeed("build", "--sensor", "a0", "--rate", 100)
    record = ["record", "-o", "r.csv", "--emulate", "--label", "x", "--takes", 1, "--seconds", 1]
    assert "the firmware reads a0, but the emulated board has no" in refusal(run(*record))
    assert not Path("r.csv").exists()
    done = succeed(*record, "--sensor", "a0=light.csv")
    assert "a0 replays 50 samples a second, but the firmware reads 100, so" in done.stderr
    assert "r.csv: 1 take, 100 samples of a0 at 100 Hz" in done.stdout
    stage = window_features_of("mean,max", 20, 1)
    model = random_window_model(stage)
    save_model(replace(model, raw_exponents=np.zeros(1, np.int64)), Path("m.npz"))
    succeed("build", "m.npz", "--sensor", "a0", "--rate", 1)
    monitor = ["monitor", "--emulate", "--seconds", 1]
    assert "the firmware reads analog, but the emulated board has no" in refusal(run(*monitor))
    done = succeed(*monitor, "--sensor", "a0=light.csv")
    assert "0 windows in 1 s" in done.stdout
    assert "the first one takes 20 s; wait longer" in done.stdout


@needs_emulated_avr
def test_pins_in_capitals_match_and_take_their_samples_from_one_file(tmp_path: Path) -> None:
    table, model, project = tmp_path / "box.csv", tmp_path / "box.npz", tmp_path / "live"
    rng = np.random.default_rng(0)
    rows = [
        f"{label},{','.join(map(str, rng.integers(low, low + 200, 2)))}"
        for label, low in (("open", 700), ("closed", 10))
        for _ in range(30)
    ]
    table.write_text("label,A0,A1\n" + "\n".join(rows) + "\n")
    succeed("train", table, "-o", model, "--classifier", "linear")
    words = ["--sensor", "a0", "--sensor", "a1", "--rate", 10, "-o", project]
    done = succeed("build", model, *words)
    assert "matched by position" not in done.stderr
    assert "windows of 1 sample at 10 Hz" in done.stdout
    assert done.stdout.rstrip().endswith("--emulate --sensor a0=FILE")  # there is no recording.csv
    words = ["--emulate", "--sensor", f"a0={table},rate=10", "--seconds", 2]
    watched = succeed("monitor", "--project", project, *words)
    assert "open" in watched.stdout
