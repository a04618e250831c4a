"""Takes of sound ran together; text in place of a model's numbers was a traceback."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, succeed

from protonn_edge.extensions.sensing.recordings.recorded import read_recording

NOISE = np.random.default_rng(0).normal(0, 9, (60, 2)).round(2).tolist()


def test_takes_of_sound_are_apart(tmp_path: Path) -> None:
    for name in ("hum/1.wav", "hum/2.wav", "beep/1.wav"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with wave.open(str(tmp_path / name), "wb") as file:
            file.setparams((1, 1, 8000, 0, "NONE", ""))
            file.writeframes(bytes(7 * place % 251 for place in range(100)))
    assert np.flatnonzero(read_recording(tmp_path).seams).tolist() == [100, 200]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rows = [f"{x},{y},{'ab'[place % 2]}" for place, (x, y) in enumerate(NOISE)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,label", *rows]) + "\n")
    succeed("train", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--classifier", "linear")
    return tmp_path / "m.npz"


@pytest.mark.parametrize("cells", [("foo", "bar", "baz"), ("1", "bar", "3")])
def test_text_where_a_model_needs_numbers_is_refused(model: Path, cells: tuple[str, ...]) -> None:
    other = model.with_name("other.csv")
    other.write_text("x,y\n" + "".join(f"1.5,{cell}\n" for cell in cells))
    sentence = refusal(run("predict", model, other))
    assert "column 'y'" in sentence
    assert "finite number" in sentence
