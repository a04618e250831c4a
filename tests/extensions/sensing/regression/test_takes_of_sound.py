"""Takes of sound ran together."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

from protonn_edge.extensions.sensing.recordings.recorded import read_recording


def test_takes_of_sound_are_apart(tmp_path: Path) -> None:
    for name in ("hum/1.wav", "hum/2.wav", "beep/1.wav"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with wave.open(str(tmp_path / name), "wb") as file:
            file.setparams((1, 1, 8000, 0, "NONE", ""))
            file.writeframes(bytes(7 * place % 251 for place in range(100)))
    assert np.flatnonzero(read_recording(tmp_path).seams).tolist() == [100, 200]
