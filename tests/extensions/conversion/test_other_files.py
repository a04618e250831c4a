"""Files of other programs in place of a model: one sentence, which names `convert` if it helps."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run

from protonn_edge.model.file import load_model
from protonn_edge.model.other_files import other_file
from protonn_edge.system.errors import InputError

FOLDER = Path(__file__).parents[2] / "data"

OF_OTHERS = {
    "net.h5": b"\x89HDF\r\n\x1a\n0000",
    "net.pkl": b"\x80\x04\x95\x10",
    "net.json": b'{"oblivious_trees": []}',
    "net.pb": b"\x08\x01\x12\x05abcde",
    "net": b"\0\1\2\3",
}


def sentences(path: Path, tmp_path: Path) -> list[str]:
    """Return what `convert` and `build` say of a file."""
    data = tmp_path / "data.csv"
    data.write_text("a,b,label\n1,2,x\n3,4,y\n1,3,x\n4,4,y\n")
    found = [refusal(run("convert", path, "--data", data, "-o", tmp_path / "model.npz"))]
    found.append(refusal(run("build", path, "-o", tmp_path / "project")))
    assert not (tmp_path / "model.npz").exists()
    assert not (tmp_path / "project").exists()
    return found


@pytest.mark.parametrize("name", OF_OTHERS)
def test_a_file_of_another_program_is_not_a_model_file(name: str, tmp_path: Path):
    (tmp_path / name).write_bytes(OF_OTHERS[name])
    of_convert, of_build = sentences(tmp_path / name, tmp_path)
    assert "is not a model that convert reads; name an estimator of skops" in of_convert
    assert "is not a model file; name one that 'train' or 'convert' writes" in of_build


@pytest.mark.parametrize("ending", [".skops", ".ubj", ".tflite", ".ONNX"])
def test_the_ending_counts_if_the_content_is_unknown(ending: str, tmp_path: Path):
    path = tmp_path / f"a net{ending}"
    path.write_bytes(b"\0\1\2\3 but no zip")
    expected = f"convert it first: protonn-edge convert {shlex.quote(str(path))} --data DATA"
    assert expected in refusal(run("build", path))


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("boosters/iris.json", "a booster of XGBoost"),
        ("boosters/iris.ubj", "a booster of XGBoost"),
        ("boosters/iris.txt", "a booster of LightGBM"),
        ("tflite/one-output.tflite", "a network of TensorFlow Lite"),
    ],
)
def test_what_convert_reads_is_read_under_any_name(name: str, what: str, tmp_path: Path):
    path = tmp_path / "model.bin"
    path.write_bytes((FOLDER / name).read_bytes())
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert f"is {what}; convert it first: protonn-edge convert" in str(caught.value)
    if "iris" in name:
        rows = np.random.default_rng(0).uniform(0, 8, (30, 4)).round(1).tolist()
        data = tmp_path / "data.csv"
        lines = [*(f"{row}"[1:-1] + f",{at % 3}" for at, row in enumerate(rows))]
        data.write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
        done = run("convert", path, "--data", data, "-o", tmp_path / "model.npz")
        assert done.exit_code == 0, done.output
        assert load_model(tmp_path / "model.npz").head.kind == "forest"


def test_a_model_file_is_none_of_them(tmp_path: Path):
    np.savez(tmp_path / "model.npz", format_version=7)
    (tmp_path / "model.npz").rename(tmp_path / "model.h5")
    assert other_file(tmp_path / "model.h5") is None
    assert other_file(tmp_path / "nowhere") is None
    assert other_file(tmp_path) is None
