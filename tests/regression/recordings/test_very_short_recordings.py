"""Sounds whose chunks do not add up are refused."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.datasets.waves import read_wave


@pytest.mark.parametrize("samples", [0, 9])
def test_a_sound_with_a_chunk_beyond_its_end_is_refused(tmp_path: Path, samples: int) -> None:
    content = io.BytesIO()
    with wave.open(content, "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(2 * samples))
    data = content.getvalue()
    path = tmp_path / "clap.wav"
    path.write_bytes(data[:36] + b"LIST" + (10**6).to_bytes(4, "little") + bytes(3) + data[36:])
    with refused_by("datasets.waves"):
        read_wave(path)
