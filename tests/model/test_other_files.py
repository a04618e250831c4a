"""Files of other programs in place of a model: one sentence that leads on, whatever their names."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run

from protonn_edge.chain.file import load_model
from protonn_edge.chain.other_files import KINDS, other_file
from protonn_edge.errors import InputError

FOLDER = Path(__file__).parents[1] / "data"

CONTENTS = {  # of other programs that are not read, by a word of what leads on
    b"\x89HDF\r\n\x1a\n0000": "model.export('model.onnx', format='onnx')",
    b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.": "torch.onnx.export(",
    b"\x08\x01\x12\x05abcde": "TFLiteConverter.from_saved_model(",
    b'{"format": "layers-model", "modelTopology": {}, "weightsManifest": []}': "tensorflowjs_conv",
    b'{"features_info": {}, "oblivious_trees": []}': "XGBoost, LightGBM or scikit-learn instead",
    b"CBM1\0\0\0": "XGBoost, LightGBM or scikit-learn instead",
    b"binf\0\0": "save_model('model.json')",
    b"booster[0]:\n0:[f0<0.5] yes=1,no=2\n": "in XGBoost with save_model('model.json')",
    b'[\n  { "nodeid": 0, "depth": 0 }]': "in XGBoost with save_model('model.json')",
    b'{"name": "tree", "version": "v4"}': "in LightGBM with save_model('model.txt')",
    b"\x80\x04\x95\x10": "skops.io.dump (.skops)",
    b'<?xml version="1.0"?>\n<PMML version="4.4"></PMML>': "from_sklearn",
    b"unsigned char model[] = {0x1c,0x00};": "such as the .tflite file",
    b"#include <stdint.h>\nalignas(8) const uint8_t g_model[] = {": "such as the .tflite file",
    b"// made by a converter\n": "such as the .tflite file",
}
NAMES = {  # in archives and folders
    ("metadata.json", "config.json", "model.weights.h5"): "model.export(",
    ("keras_model.h5", "labels.txt"): "model.export(",
    ("archive/data.pkl", "archive/version"): "torch.onnx.export(",
    ("saved_model.pb", "fingerprint.pb"): "from_saved_model(",
    ("model.json", "weights.bin", "metadata.json"): "tensorflowjs_converter",
}
ENDINGS = {
    ".h5": "model.export(",
    ".keras": "model.export(",
    ".pt": "torch.onnx.export(",
    ".pth": "torch.onnx.export(",
    ".pmml": "from_sklearn",
    ".cbm": "LightGBM or scikit-learn instead",
    ".model": "save_model('model.json')",
    ".h": "such as the .tflite file",
    ".cc": "such as the .tflite file",
    ".joblib": "skops.io.dump",
    ".zip": "unpack it",
    ".mlmodel": "as ONNX",
    ".safetensors": "as ONNX",
    ".csv": "where the command takes data",
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


@pytest.mark.parametrize("ending", [".bin", ".onnx", ".json"])
@pytest.mark.parametrize("content", CONTENTS, ids=lambda each: CONTENTS[each][:12])
def test_the_content_counts_first(content: bytes, ending: str, tmp_path: Path):
    path = tmp_path / f"net{ending}"
    path.write_bytes(content)
    for sentence in sentences(path, tmp_path):
        assert CONTENTS[content] in sentence
        assert "name ends in" not in sentence  # which would invite to rename the file


@pytest.mark.parametrize("names", NAMES, ids=lambda each: each[0])
def test_names_in_an_archive_or_a_folder_count(names: tuple[str, ...], tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "net", "w") as archive:
        for name in names:
            archive.writestr(name, b"0")
    assert other_file(tmp_path / "net") is not None
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in names:
        (folder / name.replace("archive/", "")).write_bytes(b"0")
    some = [tmp_path / "net"] if "/" in names[0] else [tmp_path / "net", folder]
    for path in some:
        for sentence in sentences(path, tmp_path):
            assert NAMES[names] in sentence


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_ending_counts_if_the_content_is_unknown(ending: str, tmp_path: Path):
    path = tmp_path / f"net{ending.upper()}"
    path.write_bytes(b"\0\1\2\3 but no zip")
    for sentence in sentences(path, tmp_path):
        assert ENDINGS[ending] in sentence


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
    assert f"is {what}; convert it first, with 'protonn-edge convert" in str(caught.value)
    if "iris" in name:
        rows = np.random.default_rng(0).uniform(0, 8, (30, 4)).round(1).tolist()
        data = tmp_path / "data.csv"
        lines = [*(f"{row}"[1:-1] + f",{at % 3}" for at, row in enumerate(rows))]
        data.write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
        done = run("convert", path, "--data", data, "-o", tmp_path / "model.npz")
        assert done.exit_code == 0, done.output
        assert load_model(tmp_path / "model.npz").head.kind == "forest"


def test_what_is_nothing_known_gets_the_list(tmp_path: Path):
    path = tmp_path / "model.bin"
    path.write_bytes(bytes(range(256)))
    found = sentences(path, tmp_path)
    assert "is not a model that convert reads; name an estimator of skops, a booster" in found[0]
    assert "is not an .npz file" in found[1]


def test_a_model_file_is_none_of_them(tmp_path: Path):
    np.savez(tmp_path / "model.npz", format_version=7)
    (tmp_path / "model.npz").rename(tmp_path / "model.h5")
    assert other_file(tmp_path / "model.h5") is None
    assert other_file(tmp_path / "nowhere") is None
    assert other_file(tmp_path) is None


def test_each_kind_can_be_recognized():
    for kind in KINDS:
        assert kind.endings or kind.holds or kind.begins != rb"(?!)"
        assert bool(kind.way) != bool(kind.reader)
