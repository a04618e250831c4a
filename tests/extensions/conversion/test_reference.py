"""Matrices and folders of other ProtoNN programs become models, and models become these."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chains import replace
from hypothesis import given
from hypothesis import strategies as st
from model_factory import (
    random_images,
    random_model,
    random_points,
    random_pooling_model,
    random_window_model,
    window_features_of,
)
from refusals import refused_by
from sklearn.datasets import make_multilabel_classification

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.conversion.protonn.reference import (
    ReferenceModel,
    from_reference,
    read_reference_model,
    same_answers,
    to_reference,
    write_reference_model,
)
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import Normalizer
from protonn_edge.system.errors import InputError

DIGITS = load_digits_dataset()


def reference_run(points: np.ndarray, seed: int = 0) -> ReferenceModel:
    """Return matrices as a run of the other program on these points (n, D) would."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(5, points.shape[1])) / np.sqrt(points.shape[1])
    B = W @ points[rng.integers(0, len(points), 30)].T
    distances = np.linalg.norm(points @ W.T - B[:, :1].T, axis=1)
    matrices = (matrix.astype(np.float32) for matrix in (W, B, rng.normal(size=(10, 30))))
    return ReferenceModel(*matrices, 2.5 / float(np.median(distances)))


def its_scores(reference: ReferenceModel, points: np.ndarray) -> np.ndarray:
    """Return the scores of points (n, D) by the formula in the other program's README."""
    W, B, Z = (
        matrix.astype(np.float64)
        for matrix in (reference.projection, reference.prototypes, reference.labels)
    )
    squares = np.square((points @ W.T)[:, :, None] - B).sum(axis=1)
    return np.exp(-(reference.gamma**2) * squares) @ Z.T


@pytest.mark.parametrize("layout", ["text", "npy"])
@pytest.mark.parametrize("normalization", ["none", "standard"])
def test_its_predictions_are_equal(tmp_path: Path, normalization: str, layout: Any):
    train, test = DIGITS.X_train.astype(float), DIGITS.X_test.astype(float)
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    deviation[deviation < 1e-6] = 1  # as in the authors' examples

    def seen(X: np.ndarray) -> np.ndarray:
        return (X - mean) / deviation if normalization == "standard" else X

    run = reference_run(seen(train))
    write_reference_model(run, tmp_path, layout)
    model = from_reference(
        read_reference_model(tmp_path), DIGITS.X_train, normalization, DIGITS.classes
    )
    expected = its_scores(run, seen(test))
    np.testing.assert_allclose(model.scores(DIGITS.X_test), expected, rtol=1e-4, atol=1e-7)
    assert np.array_equal(model.predict(DIGITS.X_test), expected.argmax(axis=1))
    assert model.head.cutoff == 0


def test_it_is_a_model_to_go_on_from():
    run = reference_run(DIGITS.X_train)
    model = from_reference(run, DIGITS.X_train, "none", DIGITS.classes)
    further = ProtoNNClassifier(
        initial_model=model, epochs=2, learning_rate=1e-4, quantization_aware=False
    )
    assert further.fit(DIGITS.X_train, DIGITS.y_train).model_.head.n_prototypes == 30


def test_sets_of_labels_get_a_threshold():
    X, Y = make_multilabel_classification(n_samples=200, n_features=8, n_classes=10, random_state=0)
    points, sets = X.astype(np.float32), Y.astype(np.float32)
    run = reference_run(X)
    model = from_reference(run, points, "l2", [str(i) for i in range(10)], targets=sets)
    assert model.policy.predicts == "labels"
    assert model.predict(points).shape == (200, 10)


def test_matrices_for_other_data_are_refused():
    run = reference_run(DIGITS.X_train)
    with refused_by("learn.training_set"):
        from_reference(run, DIGITS.X_train[:, :32], "none", DIGITS.classes)
    with refused_by("learn.training_set"):
        from_reference(run, DIGITS.X_train, "none", ("a", "b", "c"))


@given(seed=st.integers(0, 1000))
def test_a_model_scores_there_as_here(seed: int):
    model, X = random_model(seed), random_points(seed, 50, 12)
    there = its_scores(to_reference(model), X)
    np.testing.assert_allclose(there, model.scores(X), rtol=1e-3, atol=1e-4)
    assert same_answers(model, to_reference(model), X.astype(np.float32)) == 1.0
    inside = its_scores(to_reference(model, "normalized"), model.normalized(X))
    np.testing.assert_allclose(inside, model.scores(X), rtol=1e-6)


@pytest.mark.parametrize("layout", ["text", "npy"])
def test_what_is_written_and_read_again_is_the_same(tmp_path: Path, layout: Any):
    written = to_reference(random_model(3))
    write_reference_model(written, tmp_path, layout)
    read = read_reference_model(tmp_path)
    for name in ("projection", "prototypes", "labels"):
        assert np.array_equal(getattr(read, name), getattr(written, name))
    assert read.gamma == written.gamma


def test_averages_of_images_are_folded_in():
    pooling = average_pooling((6, 8), (6, 8), (3, 4))
    model, images = random_pooling_model(pooling), random_images(1, 40, pooling)
    reference = to_reference(model)
    assert reference.projection.shape[1] == 48
    there = its_scores(reference, images.astype(float))
    np.testing.assert_allclose(there, model.scores(images), rtol=1e-3, atol=1e-4)


def shifted(model: Model, offset: float) -> Model:
    normalizer = replace(model.normalizer, offset=np.full(12, offset))
    inputs = replace(model.inputs, lower=np.full(12, offset), upper=np.full(12, offset + 1))
    return replace(model, normalizer=normalizer, inputs=inputs)


@pytest.mark.parametrize(
    ("model", "features", "words"),
    [
        (replace(random_model(), clipped=True), "raw", "clips outliers"),
        (replace(random_model(), clipped=True), "normalized", "clips outliers"),
        (
            replace(random_model(), normalizer=Normalizer.identity(12, "l2")),
            "raw",
            "scales points to unit norm, .* choose the features 'normalized'",
        ),
        (
            random_pooling_model(average_pooling((6, 8), (6, 8), (3, 4), deskew=True)),
            "raw",
            "computes features",
        ),
        (
            random_pooling_model(average_pooling((6, 8), (6, 8), (3, 4))),
            "normalized",
            "computes features",
        ),
        (
            random_window_model(window_features_of("mean,max")),
            "raw",
            "computes features, which",
        ),
        (shifted(random_model(), 1e9), "raw", "offsets are too large"),
    ],
)
def test_what_no_matrix_does_is_refused(model: Model, features: Any, words: str):
    with pytest.raises(InputError, match=words) as caught:
        to_reference(model, features)
    assert "\n" not in str(caught.value)


RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 7)).astype(np.float32)
B = RNG.normal(size=(3, 5)).astype(np.float32)
Z = RNG.normal(size=(2, 5)).astype(np.float32)
GAMMA = 0.625


def write_text(folder: Path, delimiter: str = "\t") -> None:
    for name, matrix in (("W", W), ("B", B), ("Z", Z), ("gamma", np.array([[GAMMA]]))):
        np.savetxt(folder / name, matrix, delimiter=delimiter, fmt="%.9g")


def write_lines(folder: Path) -> None:
    """Write texts with the line ends of another system."""
    write_text(folder)
    for name in ("W", "B", "Z", "gamma"):
        path = folder / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def write_npy(folder: Path) -> None:
    for name, array in (("W", W.T), ("B", B), ("Z", Z), ("gamma", np.float64(GAMMA))):
        np.save(folder / f"{name}.npy", array)


@pytest.mark.parametrize(
    "write", [write_text, lambda folder: write_text(folder, " "), write_npy, write_lines]
)
def test_both_layouts_hold_the_same_model(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path)
    found = read_reference_model(tmp_path)
    assert np.array_equal(found.projection, W)
    assert np.array_equal(found.prototypes, B)
    assert np.array_equal(found.labels, Z)
    assert found.gamma == GAMMA
    assert (found.projection.shape[1], len(found.labels)) == (7, 2)


def test_a_square_projection_is_turned_as_its_program_meant_it(tmp_path: Path) -> None:
    square = RNG.normal(size=(3, 3)).astype(np.float32)
    write_npy(tmp_path)
    np.save(tmp_path / "W.npy", square.T)
    assert np.array_equal(read_reference_model(tmp_path).projection, square)


def test_a_projection_saved_the_other_way_round_is_recognized(tmp_path: Path) -> None:
    write_npy(tmp_path)
    np.save(tmp_path / "W.npy", W)
    assert np.array_equal(read_reference_model(tmp_path).projection, W)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("W", "1\t2\n3\n"),
        ("W", "1\ttwo\n"),
        ("W", "1\tnan\n"),
        ("W", "1\t1e999\n"),
        ("W", "1\t1e39\n"),
        ("B", ""),
        ("B", "\n\n"),
        ("B", "1\t2\n"),
        ("Z", "1\t2\n"),
        ("gamma", "0\n"),
        ("gamma", "nan\n"),
        ("gamma", "1\t2\n"),
        ("Z", "\x00ÿ"),
    ],
)
def test_a_damaged_text_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    write_text(tmp_path)
    (tmp_path / name).write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=rf"{name}\b") as caught:
        read_reference_model(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["W", "B", "Z", "gamma"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write_text(tmp_path)
    (tmp_path / name).unlink()
    with refused_by("extensions.conversion.protonn.reference", "system.files"):
        read_reference_model(tmp_path)


def header(shape: tuple[int, ...], descr: str = "<f4") -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        b"no array",
        header((2**39, 2**20)),
        header((3, 5)) + b"\x00" * 59,
        header((3, 5), "|O") + pickle.dumps([1]),
        header((3, 5), "<U9") + bytes(540),
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"\x93NUMPY\t\x00",
    ],
)
def test_a_damaged_npy_file_is_named(tmp_path: Path, content: bytes) -> None:
    write_npy(tmp_path)
    (tmp_path / "B.npy").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_reference_model(tmp_path)
    assert "\n" not in str(caught.value)
    assert "B.npy" in str(caught.value)


def test_a_file_of_another_order_in_memory_is_read_right(tmp_path: Path) -> None:
    write_npy(tmp_path)
    np.save(tmp_path / "B.npy", np.asfortranarray(B.astype(">f8")))
    np.testing.assert_array_equal(read_reference_model(tmp_path).prototypes, B)


MODEL = ReferenceModel(W, B, Z, GAMMA)


def test_text_is_what_the_program_writes(tmp_path: Path) -> None:
    for _ in range(2):
        write_reference_model(MODEL, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["B", "W", "Z", "gamma"]
    for name, matrix in (("W", W), ("B", B), ("Z", Z)):
        np.testing.assert_array_equal(
            np.loadtxt(tmp_path / name, delimiter="\t", dtype=np.float32), matrix
        )
    assert (tmp_path / "gamma").read_bytes() == b"0.625\n"


def test_npy_is_what_the_python_programs_write(tmp_path: Path) -> None:
    write_reference_model(MODEL, tmp_path, "npy")
    assert np.array_equal(np.load(tmp_path / "W.npy"), W.T)
    assert np.load(tmp_path / "W.npy").dtype == np.float32
    assert np.load(tmp_path / "gamma.npy").shape == ()
    assert np.load(tmp_path / "gamma.npy") == GAMMA


def test_other_files_stay_and_the_other_layout_is_not_mixed_in(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1\t2\n")
    write_reference_model(MODEL, tmp_path)
    assert (tmp_path / "train.txt").read_text() == "1\t2\n"
    with pytest.raises(InputError, match="W: it belongs to a model in the other layout"):
        write_reference_model(MODEL, tmp_path, "npy")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with refused_by("extensions.conversion.protonn.reference"):
        write_reference_model(MODEL, tmp_path / "run")
