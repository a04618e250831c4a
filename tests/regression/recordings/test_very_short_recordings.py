"""Recordings of one sample, and sounds whose chunks do not add up, were a TypeError and worse."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import pytest
from command_line import refusal, run
from refusals import refused_by

from protonn_edge.datasets.waves import read_wave


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_of_sessions_with_hardly_a_row_is_refused(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "r.csv"
    path.write_text("label,session,x,y\n" + "rest,first,1,2\n" * rows)
    done = run("windows", path, "-o", tmp_path / "w.npz", "--window", 2)
    assert ("has no points", "has 1 sample, but a window has 2")[rows] in refusal(done)
    assert not (tmp_path / "w.npz").exists()


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
