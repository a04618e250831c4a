"""Networks that are trained on labels after their conversion, in the integers of a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.conversion.onnx_factory import network, perceptron, written
from refusals import refused_by
from sklearn.tree import DecisionTreeClassifier

from protonn_edge import from_network, from_sklearn
from protonn_edge.data.points.division import held_out_rows
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.model.head import matrices_of
from protonn_edge.model.quantization import quantize

DATA = Path(__file__).parents[2] / "data"
DIGITS = load_digits_dataset()
TEST = (DIGITS.X_test, DIGITS.y_test)


def convolutional() -> bytes:
    """Return a network for images of digits whose scores nothing was trained for yet."""
    draw = np.random.default_rng(0).normal
    nodes = written(
        "Conv x w > a : pads=[1] * 4; Relu a > b; "
        "MaxPool b > c : kernel_shape=[2, 2], strides=[2, 2]; Flatten c > d; Gemm d v > y"
    )
    weights = draw(size=(6, 1, 3, 3)), draw(size=(96, 10)) / 200
    return network(nodes, (1, 8, 8), **dict(zip("wv", map(np.float32, weights), strict=True)))


def untrained(classes: int) -> bytes:
    """Return a network of matrices whose second one gives all classes almost the same score."""
    draw = np.random.default_rng(0).normal
    rows = 1 if classes == 2 else classes
    parts = draw(size=(64, 12)) / 50, draw(size=(12, rows)) / 50
    nodes = written("Gemm x v > a; Relu a > b; Gemm b w > y")
    return network(nodes, (64,), **dict(zip("vw", map(np.float32, parts), strict=True)))


@pytest.mark.parametrize("bits", [8, 2])
def test_layers_in_their_bits_learn_labels(bits: int):
    options: Any = {"bits": bits, "epochs": 24, "evaluate_on": TEST}
    content, points = convolutional(), (DIGITS.X_train[:700], DIGITS.y_train[:700])
    plain = from_network(content, *points, **options)
    found = from_network(content, *points, fine_tune=True, **options)
    assert [step.name for step in found.steps[1:]] == ["rounded", "trained", "tuned", "integers"]
    assert plain.accuracy is not None
    assert plain.accuracy < 0.4
    assert found.accuracy is not None
    assert found.accuracy > 0.7
    told = found.to_json()["fine_tuning"]
    assert told["points"] + told["tested"] == 700
    assert told["after"] > 0.7 > told["before"]
    assert f"accuracy {100 * told['before']:.2f} % before and {100 * told['after']:.2f}" in str(
        found
    )
    assert plain.to_json()["fine_tuning"] is None
    assert "fine-tuned" not in str(plain)


def test_the_same_seed_gives_the_same_network():
    small = DIGITS.X_train[:150], DIGITS.y_train[:150]
    for content in (convolutional(), untrained(10)):
        first, again, other = (
            from_network(content, *small, fine_tune=True, epochs=6, random_state=seed).model.head
            for seed in (0, 0, 1)
        )
        for name, matrix in matrices_of(first).items():
            np.testing.assert_array_equal(matrix, matrices_of(again)[name])
        assert any(
            (matrix != matrices_of(other)[name]).any()
            for name, matrix in matrices_of(first).items()
        )


@pytest.mark.parametrize("classes", [10, 2])
def test_matrices_learn_labels_of_points_in_bytes(classes: int):
    some, tested = DIGITS.y_train < classes, DIGITS.y_test < classes
    X = np.c_[DIGITS.X_train[some][:, 1:], np.full(some.sum(), 7)]  # a feature is constant
    X_test = np.c_[DIGITS.X_test[tested][:, 1:], np.full(tested.sum(), 7)]
    test = X_test, DIGITS.y_test[tested]
    found = from_network(
        untrained(classes), X, DIGITS.y_train[some], fine_tune=True, evaluate_on=test
    )
    assert found.accuracy is not None
    assert found.accuracy > 0.9
    assert [step.name for step in found.steps[1:]] == ["exact", "tuned", "integers"]


def test_a_network_that_no_pass_improves_stays_as_it_is():
    """It is right on all points, so that none can be better."""
    X = np.random.default_rng(0).integers(0, 2, (200, 64)).astype(np.float32)
    y = (X[:, 0] > 0.5).astype(int)
    weights = np.zeros((64, 1))
    weights[0] = 100
    nodes = written("MatMul x v > a; Add a b > y")
    content = network(nodes, (64,), v=np.float32(weights), b=np.float32([-50]))
    plain, found = (from_network(content, X, y, fine_tune=each) for each in (False, True))
    assert found.to_json()["fine_tuning"]["before"] == 1
    np.testing.assert_allclose(plain.model.scores(X), found.model.scores(X), rtol=1e-3)


def test_what_cannot_be_tuned_is_refused():
    X, y = DIGITS.X_train[:200], DIGITS.y_train[:200]
    trees = DecisionTreeClassifier(max_depth=3).fit(X, y)
    int8 = load_network(DATA / "tflite" / "one-output.tflite", "one-output.tflite")
    for estimator in (trees, int8):
        points = np.zeros((3, estimator.n_features_in_))
        with refused_by("extensions.conversion.converting"):
            from_sklearn(estimator, points, [0, 1, 0], fine_tune=True)
    quantized, points = DATA / "networks" / "onnxruntime-cnn-usps10.onnx", np.zeros((3, 256))
    with refused_by("extensions.conversion.converting"):
        from_network(quantized, points, [0] * 3, fine_tune=True)
    with refused_by("extensions.conversion.converting"):
        from_network(untrained(10), X, fine_tune=True)
    with refused_by("extensions.conversion.networks.tuning"):
        from_network(untrained(10), X, y, fine_tune=True, epochs=0)
    with refused_by("extensions.conversion.networks.tuning"):
        from_network(untrained(10), X[:2], y[:2], fine_tune=True)


@pytest.mark.parametrize("seed", [26, 30, 39])
def test_held_out_points_are_as_right_as_without_fine_tuning(seed: int) -> None:
    """Training on the scores had made these worse, and fine-tuning began there."""
    rng = np.random.default_rng(seed)
    nodes = written("Conv x w > a; Relu a > b; Flatten b > c; Gemm c v > y")
    w, v = (rng.normal(size=size).astype(np.float32) for size in ((4, 2, 3, 3), (64, 3)))
    content = network(nodes, (2, 6, 6), w=w, v=v)
    X = rng.normal(size=(60, 2, 6, 6)).astype(np.float32)
    plain = from_network(content, X, bits=2, epochs=12)
    rows = plain.source.rule.rows(X)
    y = plain.source.answers(rows)
    tuned = from_network(content, X, y, bits=2, epochs=12, fine_tune=True)
    tested = held_out_rows(y, 0.2, 0)
    right = []
    for found in (plain, tuned):
        chain = quantize(found.model)
        right.append(np.mean(chain.predict(chain.quantize(rows[tested])) == y[tested]))
    assert right[0] <= right[1] == tuned.to_json()["fine_tuning"]["after"]


def test_a_pruned_network_is_converted_without_a_tuned_form_that_does_not_fit() -> None:
    """Why it had been dropped, nothing said."""
    rng = np.random.default_rng(1)
    W = rng.normal(size=(768, 60)) * (rng.random((768, 60)) < 0.03)
    content = perceptron([W, rng.normal(size=(60, 3))], [np.zeros(60), np.zeros(3)])
    X = rng.normal(size=(150, 768)).astype(np.float32)
    y = 1 * (X[:, :8].sum(axis=1) > 0) + (X[:, 8:16].sum(axis=1) > 2)
    X[:, :16] *= 4
    plain, tuned = (from_network(content, X, y, epochs=6, fine_tune=each) for each in (False, True))
    assert tuned.flash_bytes == plain.flash_bytes
    assert [step.name for step in tuned.steps] == ["estimator", "exact", "integers"]
    reason = tuned.to_json()["fine_tuning"]["too_large"]
    assert reason.startswith("the model needs ")
    assert f"  dropped the fine-tuned network, which {reason.removeprefix('the model ')}\n" in str(
        tuned
    )
