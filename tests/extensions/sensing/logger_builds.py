"""Loggers, and firmware that classifies, compiled for emulated boards, and what they send."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from avr_programs import compile_text

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.planner import Limits, make_plan
from protonn_edge.device.connection import Link
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.listener import AnswerStream
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.recorder import Samples, SampleStream
from protonn_edge.extensions.sensing.sensor_board import LoggerDescription, WindowAnswer
from protonn_edge.extensions.sensing.sensor_projects import live_files, logger_of
from protonn_edge.extensions.sensing.windowing import Windowing
from protonn_edge.system.files import write_atomically

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-DF_CPU=16000000UL")


def compile_logger(
    folder: Path,
    rate: float,
    *names: str,
    change: tuple[str, str] | None = None,
    board: str = "uno",
) -> Path:
    """Compile the firmware that logs sensors, one text of it changed; no warning is let through."""
    on = load_board(board)
    logger = logger_of([sensor_kind(name) for name in names], rate, on)
    text = logger.firmware()["src/main.c"]
    if change is not None:
        assert text.count(change[0]) == 1
        text = text.replace(*change)
    elf = folder / f"{Path(names[0]).stem}-{rate:g}.elf"
    return compile_text(text, elf, "-Os", *WARNINGS, mcu=on.mcu)


@contextlib.contextmanager
def listening(url: str) -> Iterator[Link]:
    with contextlib.closing(Link(url, 115_200)) as line:
        yield line


def samples_of(url: str, count: int) -> tuple[SampleStream, list[Samples]]:
    """Return the first samples, at least so many, that a board sends."""
    stream, found = SampleStream(), []
    with listening(url) as line:
        while sum(len(each.values) for each in found) < count:
            data = line.read(20.0)
            assert data, "the board fell silent"
            found += stream.feed(data)
    return stream, found


def assert_logged(
    folder: Path, rate: float, *names: str, rows: int = 40, board: str = "uno", held: str = ""
) -> tuple[LoggerDescription, np.ndarray]:
    """Check that a board logs each sample that a sensor plays; return these, and what it is.

    The sensor is the first one that is logged, or the one that `held` describes.
    """
    kinds = [sensor_kind(name) for name in names]
    pins = [kind.pin for kind in kinds if kind.pin is not None]
    kind = sensor_kind(held) if held else kinds[0]
    first = min(pins, default=0)
    channels = max(pins) - kind.pin + 1 if pins and kind.pin is not None else len(kind.channels)
    played = noise(rows, channels, max(kind.low, -32768), min(kind.high, 32767))
    sensors = [PlayedSensor(kind, played, rate)]
    elf = compile_logger(folder, rate, *names, board=board)
    with EmulatedBoard(elf, board=load_board(board), sensors=sensors) as emulated:
        stream, found = samples_of(emulated.url, 3 * rows // 2)
        assert emulated.stats().faults == ()
    assert_played(found, played[:, [pin - first for pin in pins]] if pins else played)
    assert (stream.torn, stream.lost, stream.lost_on_board) == (0, 0, 0)
    assert stream.description is not None
    return stream.description, played


def compile_live(folder: Path, windows: Windowing, board: str = "uno", **files: str) -> Path:
    """Compile firmware that classifies windows, some of it changed; no warning is let through."""
    on = load_board(board)
    made = live_files(windows, make_plan(windows.model, Limits.of(on)))
    for name, text in (made | files).items():
        write_atomically(folder / name, text.replace("-Wall -Wextra", "-Wall -Wextra -Werror"))
    return build_firmware(folder, on.environment)


def answers_of(
    elf: Path, windows: Windowing, played: np.ndarray, count: int, board: str = "uno"
) -> list[WindowAnswer]:
    """Return the first answers, at least so many, of a board to what its sensor plays."""
    stream, found = AnswerStream(), []
    sampling = windows.sampling
    sensors = [PlayedSensor(sampling.kinds[0], played, sampling.rate)]
    with EmulatedBoard(elf, board=load_board(board), sensors=sensors) as emulated:
        with listening(emulated.url) as line:
            while len(found) < count:
                data = line.read(20.0)
                assert data, "the board fell silent"
                found += stream.feed(data)
        assert emulated.stats().faults == ()
    assert stream.torn == 0
    assert stream.description is not None
    if sampling.kinds[0].pin is None:
        (kind,) = sampling.kinds
        used = tuple(kind.channels[at] for at in windows.used)
        assert (stream.description.sensor, stream.description.channels) == (kind.name, used)
    return found


def assert_computed(windows: Windowing, answers: list[WindowAnswer], played: np.ndarray) -> None:
    """Check each answer against the integer model on the window's samples."""
    at = np.array([answer.first for answer in answers])[:, None] + np.arange(windows.window)
    raw = played[at % len(played)][:, :, list(windows.used)]
    Q = windows.model.raw_inputs.quantize(raw.reshape(len(answers), -1))
    assert np.array_equal([answer.scores for answer in answers], windows.model.scores(Q))
    assert [answer.label for answer in answers] == windows.model.predict(Q).tolist()


def noise(samples: int, channels: int, low: int = -32768, high: int = 32767) -> np.ndarray:
    """Return values of which no two samples are alike."""
    values = np.random.default_rng(samples).integers(low, high + 1, (samples, channels))
    return values.astype(np.int16)


def assert_played(found: list[Samples], played: np.ndarray) -> None:
    """Check each sample against the one of its number in what was played."""
    for piece in found:
        numbers = np.arange(piece.first, piece.first + len(piece.values))
        assert np.array_equal(piece.values, played[numbers % len(played)]), piece.first
