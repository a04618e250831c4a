"""WAV files whose header names its format at its end, as some recorders write them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from refusals import refused_by

from protonn_edge.datasets.waves import read_wave

PCM = bytes.fromhex("0100000000001000800000aa00389b71")
FLOATS = b"\x03" + PCM[1:]


def write(path: Path, samples: list[int], kind: bytes) -> Path:
    data = np.array(samples, "<i2").tobytes()
    head = struct.pack("<HHIIHH", 0xFFFE, 1, 8000, 16000, 2, 16) + struct.pack("<HHI", 22, 16, 4)
    chunks = b"fmt " + struct.pack("<I", 40) + head + kind + b"data" + struct.pack("<I", len(data))
    path.write_bytes(
        b"RIFF" + struct.pack("<I", len(chunks) + len(data) + 4) + b"WAVE" + chunks + data
    )
    return path


def test_pcm_is_read(tmp_path: Path) -> None:
    wave = read_wave(write(tmp_path / "a.wav", [0, 6400, -6400], PCM))
    assert wave.values.ravel().tolist() == [512, 612, 412]
    assert wave.rate == 8000


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with refused_by("datasets.waves"):
        read_wave(write(tmp_path / "a.wav", [0, 1], FLOATS))
