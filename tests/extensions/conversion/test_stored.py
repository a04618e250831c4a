"""Estimators in files of skops are read, other files are named; what could run code is not read."""

from __future__ import annotations

import io as streams
import json
import pickle
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from command_line import succeed
from extensions.conversion.files import stored, table, with_member
from refusals import refused_by
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.reading import load_estimator
from protonn_edge.model.file import load_model, model_bytes
from protonn_edge.model.other_files import other_file
from protonn_edge.system.errors import InputError

X, Y = load_iris(return_X_y=True)
MACHINE = make_pipeline(StandardScaler(), SVC(C=10)).fit(X, Y)


def test_it_converts_to_the_same_model(tmp_path: Path):
    read = load_estimator(stored(tmp_path / "machine.skops", MACHINE))
    here, there = (from_sklearn(each, X, epochs=2).model for each in (MACHINE, read))
    assert model_bytes(here) == model_bytes(there)


class Evil:
    """Something that a pickle would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("ran"),))


def surprise(X: np.ndarray) -> np.ndarray:
    Path("ran").touch()
    return X


def with_a_pickled_array(path: Path) -> None:
    content = streams.BytesIO()
    np.save(content, np.array([Evil()], dtype=object), allow_pickle=True)
    with_member(stored(path, MACHINE), ".npy", lambda _: content.getvalue())


WITH_CODE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pickle": (lambda path: path.write_bytes(pickle.dumps(Evil())), "is not an .npz file"),
    "a file of joblib": (lambda path: joblib.dump(Evil(), path), "is not an .npz file"),
    "a pickled array": (with_a_pickled_array, "'object', but pickled objects are not read"),
    "a function": (
        lambda path: stored(path, make_pipeline(FunctionTransformer(surprise), SVC())),
        "which is not known to be safe; convert the estimator in Python",
    ),
}


@pytest.mark.parametrize("name", WITH_CODE)
def test_code_in_a_file_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.chdir(tmp_path)
    write, words = WITH_CODE[name]
    write(tmp_path / "machine.skops")
    with pytest.raises(InputError, match=words):
        load_estimator(tmp_path / "machine.skops")
    assert not Path("ran").exists()


def test_a_network_is_told_to_take_another_way(tmp_path: Path):
    network = MLPClassifier((3,), max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = stored(tmp_path / "network.skops", network.fit(X, Y))
    with refused_by("extensions.conversion.reading"):
        load_estimator(path)


def test_neighbours_with_a_tree_are_told_what_to_do(tmp_path: Path):
    tree = KNeighborsClassifier(algorithm="kd_tree").fit(X, Y)
    with pytest.raises(InputError, match="fit the classifier with algorithm='brute'"):
        load_estimator(stored(tmp_path / "tree.skops", tree))
    brute = KNeighborsClassifier(algorithm="brute").fit(X, Y)
    read = load_estimator(stored(tmp_path / "brute.skops", brute))
    assert from_sklearn(read, X, epochs=0).agreement > 0.9


def test_a_type_of_numbers_is_only_that_of_an_array(tmp_path: Path):
    """An imputer has two; any other type would be made by NumPy from what the file says."""
    path = stored(tmp_path / "filled.skops", make_pipeline(SimpleImputer(), MACHINE).fit(X, Y))
    assert load_estimator(path)[0].statistics_ == pytest.approx(X.mean(axis=0))
    with_member(path, "schema.json", lambda it: it.replace(b"DTypeNode", b"TypeNode"))
    with refused_by("extensions.conversion.reading"):
        load_estimator(path)


def header(shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".npy", header((2**30,))),
        (".npy", b""),
        ("schema.json", b"{"),
        ("schema.json", b"{}"),
        ("schema.json", b"[" * 100000),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path: Path, name: str, content: bytes):
    path = with_member(stored(tmp_path / "machine.skops", MACHINE), name, lambda _: content)
    with pytest.raises(InputError) as caught:
        load_estimator(path)
    assert "\n" not in str(caught.value)
    assert "machine.skops" in str(caught.value)


def test_another_file_is_refused(tmp_path: Path):
    (tmp_path / "machine.skops").write_bytes(b"PK but no zip")
    with refused_by("data.files.archive"):
        load_estimator(tmp_path / "machine.skops")
    np.savez(tmp_path / "model.npz", W=np.ones(3))
    (tmp_path / "model.npz").rename(tmp_path / "machine.skops")
    with refused_by("extensions.conversion.reading"):
        load_estimator(tmp_path / "machine.skops")


def test_an_array_that_is_named_too_often_takes_no_memory(tmp_path: Path):
    path = stored(tmp_path / "machine.skops", MACHINE)
    large = header((2**22,)) + bytes(8 * 2**22)
    path = with_member(path, ".npy", lambda _: large)
    with zipfile.ZipFile(path) as archive:
        name = next(each.filename for each in archive.infolist() if each.file_size == len(large))
    node = {"__class__": "ndarray", "__module__": "numpy", "file": name, "type": "numpy"}
    path = with_member(path, "schema.json", lambda _: json.dumps([node] * 10).encode())
    with refused_by("extensions.conversion.reading"):
        load_estimator(path)


FOLDER = Path(__file__).parents[2] / "data"


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
        data = table(tmp_path / "data.csv", rows, np.arange(30) % 3)
        succeed("convert", path, "--data", data, "-o", tmp_path / "model.npz")
        assert load_model(tmp_path / "model.npz").head.kind == "forest"


def test_a_model_file_is_none_of_them(tmp_path: Path):
    np.savez(tmp_path / "model.npz", format_version=7)
    (tmp_path / "model.npz").rename(tmp_path / "model.h5")
    assert other_file(tmp_path / "model.h5") is None
    assert other_file(tmp_path / "nowhere") is None
    assert other_file(tmp_path) is None
