"""Open inputs were recorded as zeros; other rates, windows and firmware had no word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import refusal, run, succeed
from model_factory import random_window_model, window_features_of
from refusals import refused_by

from protonn_edge.device.protocol import encode_frame
from protonn_edge.extensions.sensing.commands.source import rates_unlike
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor, check_read
from protonn_edge.extensions.sensing.recorder import SampleStream
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import CheckFailed


def played(rate: float) -> PlayedSensor:
    return PlayedSensor(sensor_kind("a0"), np.zeros((1, 1), np.int16), rate)


@pytest.mark.parametrize("reads", [["analog"], ["a0", "a1"], ["microphone"]])
def test_an_emulated_board_without_a_sensor_is_refused(reads: list[str]) -> None:
    with refused_by("extensions.sensing.played"):
        check_read([], reads)
    check_read([], reads, emulate=False)


@pytest.mark.parametrize(
    ("rate", "words"),
    [(50, "some samples are repeated"), (200, "some samples are left out"), (100.5, None)],
)
def test_a_rate_that_is_not_the_firmwares_is_told(rate: float, words: str | None) -> None:
    notices = rates_unlike([played(rate)], 100)
    if words is None:
        assert notices == []
    else:
        (notice,) = notices
        assert notice.text.endswith(f"the firmware reads 100, so {words}")


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


def test_a_board_that_classifies_is_no_silent_logger() -> None:
    with refused_by("device.message_reader", kind=CheckFailed):
        SampleStream().feed(encode_frame(bytes([0x93]) + bytes(40)))
