"""Takes whose files state odd things of themselves are edited, or refused, like others."""

from __future__ import annotations

import struct
import wave
from pathlib import Path

import numpy as np
import pytest
from command_line import succeed

from protonn_edge.extensions.sensing.editing.takes import read_takes


@pytest.mark.parametrize("stated", [0x7FFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFF])
def test_a_sound_that_was_streamed_is_cut(tmp_path: Path, stated: int) -> None:
    """Such a file states the largest size instead of its own."""
    for name in ("clap.1.wav", "hum.1.wav"):
        with wave.open(str(tmp_path / name), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(np.arange(0, 20_000, 100, dtype="<i2").tobytes())
    streamed = tmp_path / "clap.1.wav"
    content = bytearray(streamed.read_bytes())
    for place in (4, 40):
        struct.pack_into("<I", content, place, stated)
    streamed.write_bytes(content)
    succeed("takes", tmp_path, "--take", 1, "--keep", "10:30")
    cut = streamed.read_bytes()
    assert cut[44:] == content[44 + 20 : 44 + 60]
    assert struct.unpack_from("<I", cut, 40) == (stated - 2 * 180,)
    succeed("takes", tmp_path, "--undo")
    assert streamed.read_bytes() == content


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_the_first_line_may_have_any_character(tmp_path: Path, odd: str) -> None:
    text = (
        f"# protonn-edge recording 1; sensor: a{odd}0; rate: 50 Hz; units: 1/1023\n"
        "label,session,time,a0\nrest,anna,0,5\nrest,anna,0.02,6\n"
    )
    (tmp_path / "r.csv").write_text(text, encoding="utf-8", newline="")
    (take,) = read_takes(tmp_path / "r.csv").takes
    assert (take.label, take.n) == ("rest", 2)
