"""Loggers compiled for the emulated Uno, and what they send."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from avr_programs import compile_text

from protonn_edge.chips.boards import load_board
from protonn_edge.device.connection import Link
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.recorder import Samples, SampleStream
from protonn_edge.extensions.sensing.sensor_projects import logger_of

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


def noise(samples: int, channels: int, low: int = -32768, high: int = 32767) -> np.ndarray:
    """Return values of which no two samples are alike."""
    values = np.random.default_rng(samples).integers(low, high + 1, (samples, channels))
    return values.astype(np.int16)


def assert_played(found: list[Samples], played: np.ndarray) -> None:
    """Check each sample against the one of its number in what was played."""
    for piece in found:
        numbers = np.arange(piece.first, piece.first + len(piece.values))
        assert np.array_equal(piece.values, played[numbers % len(played)]), piece.first
