"""A WAV file that was cut off was played and cut into windows without a word."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest
from command_line import refusal, run

from protonn_edge.extensions.sensing.played import read_sensor
from protonn_edge.extensions.sensing.recordings.waves import read_wave
from protonn_edge.system.errors import InputError


@pytest.fixture(params=[(1, 1), (2, 1), (2, 2)], ids=["8 bits", "16 bits", "stereo"])
def cut_off(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a file of 1,000 samples of which 401 are left, and a part of another."""
    width, channels = request.param
    path = tmp_path / "word.wav"
    with wave.open(str(path), "wb") as sound:
        sound.setparams((channels, width, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(1000 * width * channels))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 598 * width * channels - (width * channels > 1)])
    return path


def test_it_is_neither_played_nor_cut(cut_off: Path, tmp_path: Path) -> None:
    sentence = "word.wav: 40[12] samples, expected the 1,000 of its header"
    with pytest.raises(InputError, match=sentence):
        read_sensor(f"microphone={cut_off}")
    done = run("windows", cut_off, "-o", tmp_path / "w.npz", "--window", 100)
    assert "of its header" in refusal(done)
    assert not (tmp_path / "w.npz").exists()


@pytest.mark.parametrize("size", [0x7FFFFFFF, 0x7FFFF000, 0xFFFFFFFF])
def test_a_size_that_a_streaming_program_could_not_know_is_no_promise(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "word.wav"
    with wave.open(str(path), "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(2000))
    content = bytearray(path.read_bytes())
    content[4:8] = content[40:44] = size.to_bytes(4, "little")
    path.write_bytes(content)
    assert len(read_wave(path)[0]) == 1000
