"""How soon a class is there after the last sample of its window, by machine code and measured."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from chains import replace as with_numbers
from extensions.sensing.logger_builds import listening, noise
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.families.avr.code import AVRCode
from protonn_edge.codegen.planner import make_plan
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.listener import AnswerStream
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.response import response_of
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_projects import live_files
from protonn_edge.extensions.sensing.windowing import Windowing, windowing_of
from protonn_edge.extensions.teaching.board import stored
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.system.files import write_atomically

pytestmark = needs_emulated_avr

UNO = load_board("uno")
_ANSWERS = 12

# Marks the time from when a window's last sample is kept.
KEPT = "    ring_next = number + 1u;\n"
MARKED = (
    KEPT
    + "    if (ring_next >= WINDOW && (ring_next - WINDOW) % HOP == 0) {\n"
    + ("        GPIOR0 = 1;\n    }\n")
)
CLASSIFIED = "        LIVE_PLACE(classified);\n"


def windowing(sensor: str, rate: float, window: int, teachable: int = 0, **more: int) -> Windowing:
    kinds = [sensor_kind(name) for name in sensor.split(",")]
    sampling = Sampling.of(kinds, rate, UNO)
    channels = len(sampling.channels)
    model = random_window_model(window_features_of("mean,deviation,max,bands:3", window, channels))
    model = replace(model, raw_exponents=np.zeros(channels, np.int64))
    model = with_numbers(model, teachable=teachable) if teachable else model
    return windowing_of(quantize(model), model.feature_names, sampling, **more)  # type: ignore[arg-type]


def firmware(windows: Windowing, folder: Path, *, marks: bool) -> Path:
    files = live_files(windows, make_plan(windows.model))
    if marks:
        main = files["src/main.c"]
        assert main.count(KEPT) == main.count(CLASSIFIED) == 1
        main = main.replace(KEPT, MARKED)
        files["src/main.c"] = main.replace(CLASSIFIED, f"{CLASSIFIED}        GPIOR0 = 0;\n")
    for name, text in files.items():
        write_atomically(folder / name, text)
    return build_firmware(folder)


def full_store(model: IntegerChain, file: Path) -> Path | None:
    """Return an EEPROM with as many examples as there is room for, if there is any."""
    last = model.own_stages[-1]
    if not isinstance(last, IntegerPrototypes) or last.voters is None:
        return None
    points = np.zeros((last.voters.room, last.n_inputs), np.int8)
    store = stored(model, Taught(points, np.zeros(len(points), np.uint8)))
    file.write_bytes(store.ljust(1024, b"\xff"))
    return file


def measured(elf: Path, windows: Windowing) -> list[int]:
    """Return the cycles of some windows, from their last samples to their classes."""
    eeprom = full_store(windows.model, elf.with_suffix(".eep"))
    sampling, stream, spans = windows.sampling, AnswerStream(), [(0, 0)]
    played = [
        PlayedSensor(
            kind, noise(997, len(kind.channels), kind.low, kind.high), sampling.actual_rate
        )
        for kind in sampling.kinds
    ]
    with EmulatedUno(elf, sensors=played, eeprom=eeprom) as uno:
        with listening(uno.url) as line:
            while len(spans) <= _ANSWERS:
                data = line.read(20.0)
                assert data, "the board fell silent"
                if stream.feed(data):
                    stats = uno.stats()
                    spans.append((stats.marked_spans, stats.marked_cycles))
        assert uno.stats().faults == ()
    return [
        -(-(cycles - before) // (spans_now - spans_before))
        for (spans_before, before), (spans_now, cycles) in pairwise(spans)
        if spans_now > spans_before
    ]


@pytest.mark.parametrize(
    ("sensor", "rate", "window", "more"),
    [
        ("mpu6050", 100.0, 32, {}),
        ("mpu6050", 100.0, 32, {"hop": 20, "votes": 3}),
        ("mpu6050", 100.0, 32, {"teachable": 20}),
        ("a0,a1", 500.0, 64, {}),
        ("a0", 2000.0, 128, {"hop": 150}),
    ],
    ids=str,
)
def test_a_class_is_there_as_soon_as_its_bound_says(
    tmp_path: Path, sensor: str, rate: float, window: int, more: dict[str, int]
) -> None:
    windows = windowing(sensor, rate, window, **more)
    bound = response_of(
        AVRCode(read_program(firmware(windows, tmp_path / "plain", marks=False))), windows
    )
    taken = measured(firmware(windows, tmp_path / "marked", marks=True), windows)
    assert len(taken) >= _ANSWERS // 2
    assert max(taken) <= bound.cycles
    assert bound.cycles < 4 * max(taken)


def stack_at(level: str, files: dict[str, str], folder: Path) -> int:
    """Return the bytes of stack of a project with this level in its platformio.ini."""
    settings = files["platformio.ini"]
    assert "    -O2\n" in settings
    for name, text in (files | {"platformio.ini": settings.replace("-O2\n", f"{level}\n")}).items():
        write_atomically(folder / name, text)
    return worst_case_stack(read_program(build_firmware(folder, UNO.environment))).bytes


@needs_avr_gcc
def test_live_firmware_has_nearly_the_same_stack_at_another_level(tmp_path: Path) -> None:
    model = random_window_model(window_features_of("mean,min,max,bands:3", 32, 6))
    sampling = Sampling.of([sensor_kind("mpu6050")], 100.0, UNO)
    windowing = windowing_of(quantize(model), model.feature_names, sampling)
    files = live_files(windowing, make_plan(windowing.model))
    stacks = {level: stack_at(level, files, tmp_path / level) for level in ("-O2", "-O1")}
    assert abs(stacks["-O1"] - stacks["-O2"]) <= 8
