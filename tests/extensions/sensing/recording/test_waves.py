"""WAV files as recorders and editors write them: other widths, floats, telephony, long headers."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from extensions.sensing.sounds import write_sound
from numpy.typing import NDArray
from refusals import refused_by

from protonn_edge.extensions.sensing.recordings import waves
from protonn_edge.extensions.sensing.recordings.waves import read_wave

GUID = bytes.fromhex("000000001000800000aa00389b71")
SOUND = np.array([0, 6400, -6400, 32767, -32768, 63], np.int64)
COUNTS = [512, 612, 412, 1023, 0, 512]


def written(path: Path, form: int, samples: NDArray[np.generic], *, is_long: bool = False) -> Path:
    """Write samples (n, bytes) with a header that may name its format at its end."""
    data, width = samples.tobytes(), samples.shape[1]
    head = struct.pack("<HHIIHH", form, 1, 8000, 8000 * width, width, 8 * width)
    if is_long:
        head = struct.pack("<H", 0xFFFE) + head[2:]
        head += struct.pack("<HHIH", 22, 8 * width, 4, form) + GUID
    chunks = b"fmt " + struct.pack("<I", len(head)) + head
    chunks += b"LIST\x03\0\0\0abc\0" + b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks)
    return path


def as_bytes(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(values[:, None]).view(np.uint8)


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize(
    ("form", "samples"),
    [
        (1, as_bytes(SOUND.astype("<i2"))),
        (1, as_bytes((SOUND << 8).astype("<i4"))[:, :3]),
        (1, as_bytes((SOUND << 16).astype("<i4"))),
        (3, as_bytes((SOUND / 32768).astype("<f4"))),
        (3, as_bytes((SOUND / 32768).astype("<f8"))),
    ],
    ids=["16 bits", "24 bits", "32 bits", "floats", "doubles"],
)
def test_samples_of_any_width_are_read(
    tmp_path: Path, form: int, samples: NDArray[np.uint8], is_long: bool
) -> None:
    wave = read_wave(written(tmp_path / "a.wav", form, samples, is_long=is_long))
    assert wave.values.ravel().tolist() == COUNTS
    assert wave.rate == 8000


@pytest.mark.parametrize(
    ("form", "bytes_of", "counts"),
    [
        (6, [0xD5, 0x55, 0xAA, 0x2A, 0x80], [512, 511, 1016, 8, 598]),
        (7, [0xFF, 0x7F, 0x80, 0x00, 0xA0], [512, 512, 1013, 10, 635]),
    ],
    ids=["A-law", "mu-law"],
)
def test_telephony_is_expanded(
    tmp_path: Path, form: int, bytes_of: list[int], counts: list[int]
) -> None:
    samples = np.array(bytes_of, np.uint8)[:, None]
    assert read_wave(written(tmp_path / "a.wav", form, samples)).values.ravel().tolist() == counts


@pytest.mark.parametrize(
    ("form", "samples"),
    [
        (0x55, np.zeros((9, 1), np.uint8)),
        (3, as_bytes(np.array([0.1, np.nan], "<f4"))),
        (3, as_bytes(np.array([0.1, 3000], "<f4"))),
    ],
    ids=["MP3", "not a number", "not scaled"],
)
def test_other_samples_are_refused(tmp_path: Path, form: int, samples: NDArray[np.generic]) -> None:
    with refused_by("extensions.sensing.recordings.waves"):
        read_wave(written(tmp_path / "a.wav", form, samples))


def test_a_sound_is_read_piece_by_piece(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, 1_600_000, np.uint8).view("<i2")
    path = write_sound(tmp_path / "a.wav", frames.reshape(-1, 4))
    tracemalloc.start()
    try:
        samples = read_wave(path).values
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(samples[:, 0], (frames[::4] >> 6) + 512)
    assert peak < 4 * samples.nbytes + (1 << 20)  # all channels together are twice that


def test_a_sound_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waves, "_MOST_SAMPLES", 1000)
    path = write_sound(tmp_path / "a.wav", np.zeros(2000, np.uint8))
    with refused_by("extensions.sensing.recordings.waves"):
        read_wave(path)
