"""Groups of some files of a folder, sounds that take more memory than they have samples."""

from __future__ import annotations

import tracemalloc
import wave
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.data.coded import Coded
from protonn_edge.extensions.sensing.recordings import waves
from protonn_edge.extensions.sensing.recordings.waves import read_wave


def written(path: Path, frames: bytes, channels: int = 1, width: int = 1) -> Path:
    with wave.open(str(path), "wb") as sound:
        sound.setparams((channels, width, 8000, 0, "NONE", ""))
        sound.writeframes(frames)
    return path


def test_a_sound_is_read_piece_by_piece(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, 1_600_003, np.uint8)
    path = written(tmp_path / "a.wav", frames.tobytes()[:-3], channels=4, width=2)
    tracemalloc.start()
    try:
        samples = read_wave(path).values
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    first = frames[:-3].view("<i2")[::4]
    assert np.array_equal(samples[:, 0], (first >> 6) + 512)
    assert peak < 4 * samples.nbytes + (1 << 20)  # all channels together are twice that


def test_a_header_that_promises_more_than_there_is(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", bytes(range(200)))
    content = bytearray(path.read_bytes())
    content[40:44] = (
        b"\xff\xff\xff\x7f"  # the size of the samples, as programs that stream write it
    )
    path.write_bytes(content)
    assert read_wave(path)[0][:, 0].tolist() == [4 * value for value in range(200)]


def test_a_sound_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waves, "_MOST_SAMPLES", 1000)
    path = written(tmp_path / "a.wav", bytes(2000))
    with refused_by("extensions.sensing.recordings.waves"):
        read_wave(path)


def test_texts_that_repeat_are_held_once() -> None:
    texts = Coded.repeated([("a", 3), ("none", 0), ("b", 2)])
    assert list(texts) == ["a", "a", "a", "b", "b"] == list(texts[:])
    assert (len(texts), texts[2], texts[3], texts[-1]) == (5, "a", "b", "b")
    assert texts.runs == Coded.of(list(texts)).runs == [("a", 3), ("b", 2)]
    assert texts.used == ["a", "b"]
    assert (len(Coded.of([])), Coded.of([]).runs) == (0, [])
    with pytest.raises(IndexError):
        texts[5]
