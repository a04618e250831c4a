"""What only a later file had was ignored; text in place of a model's numbers was a traceback."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed

from protonn_edge.datasets.recorded import read_recording

NOISE = np.random.default_rng(0).normal(0, 9, (60, 2)).round(2).tolist()


@pytest.mark.parametrize("names", [("a", "z"), ("z", "a")])
@pytest.mark.parametrize("which", ["label", "session"])
def test_the_order_of_files_does_not_decide_what_is_read(
    tmp_path: Path, names: tuple[str, str], which: str
) -> None:
    without, having = names
    rows = [f"{x},{y},{'pq'[place // 30]}" for place, (x, y) in enumerate(NOISE)]
    plain = [row[:-2] for row in rows]
    (tmp_path / f"{having}.csv").write_text("\n".join([f"x,y,{which}", *rows]) + "\n")
    (tmp_path / f"{without}.csv").write_text("\n".join(["x,y", *plain]) + "\n")
    found = read_recording(tmp_path)
    values = set(found.dataset.classes) if which == "label" else set(found.groups or ())
    file = without if which == "label" else f"{without}.csv"
    assert values == {"p", "q", file}


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


def test_large_numbers_keep_their_differences_and_their_range(tmp_path: Path) -> None:
    rows = [f"{1.7e9 + x:.3f},{y},{'ab'[x > 0]}" for x, y in NOISE]
    (tmp_path / "t.csv").write_text("\n".join(["p,q,label", *rows]) + "\n")
    found = run_json("data", tmp_path / "t.csv")
    lows = [x for x, _ in NOISE]
    first = found["columns"][0]
    assert first["minimum"] == pytest.approx(1.7e9 + min(lows), abs=0.001)
    assert first["maximum"] == pytest.approx(1.7e9 + max(lows), abs=0.001)
    trained = run_json("train", tmp_path / "t.csv", "-o", tmp_path / "m.npz", "--epochs", 50)
    assert trained["accuracy"] > 0.9
