"""Networks in ONNX: what they compute, what becomes of them in integers, and what is refused."""

from __future__ import annotations

import functools
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.conversion.files import NETWORKS, refused
from extensions.conversion.fuzz.networks import random_chain
from extensions.conversion.onnx_factory import (
    RNG,
    network,
    numbers,
    onnx,
    perceptron,
    stated,
    written,
)
from finite_differences import assert_slope
from laws.fuzz.sentences import check_refusal
from refusals import refused_by
from row_tables import rows
from sklearn.neural_network import MLPClassifier

from protonn_edge import from_network
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.conversion.networks.networks import _equalized, _rectified
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.kinds.dense.learner import DenseNetwork
from protonn_edge.system.errors import CheckFailed, InputError

DIGITS = load_digits_dataset()
READABLE = {name: parts for name, *parts in rows(NETWORKS, "ONNX that is read")}


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Give each test the same numbers, whichever tests ran before it."""
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state


def readable(name: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the nodes of a network, and the shape of its points and its constants."""
    nodes, given = READABLE[name]
    return written(nodes), stated(given)


@pytest.mark.parametrize("name", READABLE)
def test_scores_are_those_of_onnxruntime(name: str):
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    nodes, given = readable(name)
    kept = [each for each in nodes if each.op_type not in {"LogSoftmax", "Softmax"}]
    content = network(kept, output=kept[-1].output[0], **given)
    X = numbers(20, *given["shape"])
    expected = runtime.InferenceSession(content).run(None, {"x": X})[0]
    found = load_network(content, "m.onnx").rule
    X = found.rows(X)
    np.testing.assert_allclose(found.scores(X), expected, rtol=2e-4, atol=2e-4)
    if found.image is not None:  # channels are scaled against each other
        ready = _equalized(_rectified(found, X), X)
        np.testing.assert_allclose(ready.scores(X), expected, rtol=2e-4, atol=2e-4)
    whole = load_network(network(nodes, **given), "m.onnx").rule
    assert (whole.answers(X) == expected.argmax(axis=1)).all()


@functools.cache
def trained(*hidden: int, classes: int = 10) -> tuple[MLPClassifier, bytes]:
    keep = DIGITS.y_train < classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has not converged
        fitted = MLPClassifier(hidden, max_iter=120, random_state=0)
        fitted.fit(DIGITS.X_train[keep], DIGITS.y_train[keep])
    return fitted, perceptron(fitted.coefs_, fitted.intercepts_)


@pytest.mark.parametrize("hidden", [(), (24,), (20, 12)])
def test_a_perceptron_keeps_its_answers(hidden: tuple[int, ...]):
    fitted, content = trained(*hidden) if hidden else (None, None)
    if not hidden:
        fitted, content = trained(24)
        content = perceptron([fitted.coefs_[0] @ fitted.coefs_[1]], [fitted.intercepts_[1]])
    found = from_network(
        content, DIGITS.X_train, DIGITS.y_train, evaluate_on=(DIGITS.X_test, DIGITS.y_test)
    )
    assert [step.name for step in found.steps] == ["estimator", "exact", "integers"]
    assert found.steps[1].agreement == 1.0
    assert found.agreement > 0.98
    assert found.lost is not None
    assert found.lost < 0.004
    if hidden:
        assert found.steps[0].accuracy == fitted.score(DIGITS.X_test, DIGITS.y_test)
    assert "B of SRAM on the uno" in str(found)
    assert {"flash_bytes", "sram_bytes"} <= set(found.to_json())


def test_one_score_is_that_of_the_second_class():
    fitted, content = trained(8, classes=2)
    model = onnx.ModelProto.FromString(content)
    model.graph.node[-1].op_type = "Sigmoid"
    keep = DIGITS.y_train < 2
    X, y = DIGITS.X_train[keep], DIGITS.y_train[keep]
    found = from_network(model.SerializeToString(), X, y, classes=("nought", "one"))
    assert found.model.classes == ("nought", "one")
    assert found.steps[0].accuracy == fitted.score(X, y) > 0.98
    assert found.agreement > 0.99


def test_images_of_several_channels_have_them_innermost():
    nodes, given = readable("pytorch")
    X = np.abs(numbers(60, *given["shape"]))
    content = network(nodes, **given)
    found = from_network(content, X)
    assert found.model.features is not None
    rows = np.moveaxis(X, 1, 3).reshape(len(X), -1)
    assert (from_network(content, rows).model.scores(rows) == found.model.scores(rows)).all()
    assert found.model.features.points.shape == (12, 8, 3)
    assert found.agreement > 0.8


def test_a_convolution_that_is_not_rectified_keeps_negative_sums():
    nodes, given = readable("pooled")
    X = np.abs(numbers(200, *given["shape"]))
    assert from_network(network(nodes, **given), X).agreement > 0.9


def test_rounded_layers_are_trained_on_the_answers():
    """Weights of 2 bits lose much; around images is 0 on the device, too, if in their range."""
    sizes = np.float32([100, 1, 1, 1])
    nodes = written(
        "Conv x w1 > a : pads=[1] * 4; Relu a > b; Conv b w2 > c; Relu c > d; Flatten d > e; "
        "Gemm e w3 > f : transB=1; Relu f > g; Gemm g w4 > y"
    )
    weights = {
        "w1": numbers(4, 1, 3, 3) * sizes[:, None, None, None],
        "w2": numbers(6, 4, 3, 3) / sizes[:, None, None],
        "w3": numbers(8, 216),
        "w4": numbers(8, 5),
    }
    content, X = network(nodes, (1, 8, 8), **weights), numbers(300, 64)
    assert from_network(content, X, epochs=0).agreement > 0.95  # 0 on both sides
    rounded = from_network(content, X + 2, epochs=0, bits=2)
    assert [step.name for step in rounded.steps] == ["estimator", "rounded", "integers"]
    trained = from_network(content, X + 2, epochs=30, bits=2)
    assert trained.agreement > rounded.agreement + 0.2
    assert trained.steps[-2].name == "trained"


def test_convolutions_of_signals_have_windows_along_time():
    nodes = written(
        "Conv x w > a : pads=[1, 1]; Relu a > b; GlobalAveragePool b > c; Flatten c > d; "
        "MatMul d u > y"
    )
    content = network(nodes, (2, 20), w=numbers(4, 2, 3), u=numbers(4, 3))
    found = from_network(content, numbers(300, 40), epochs=0)
    assert found.agreement > 0.9
    stage = found.model.features
    assert stage is not None
    assert [layer.output_shape for layer in stage.stages] == [(20, 1, 4), (1, 1, 4)]


@pytest.mark.parametrize("bits", [4, 2])
def test_weights_of_convolutions_have_fewer_bits(bits: int):
    nodes = written("Conv x w > a; Relu a > b; Flatten b > c; MatMul c u > y")
    content = network(nodes, (1, 8, 8), w=numbers(4, 1, 3, 3), u=numbers(144, 3))
    found = from_network(content, np.abs(numbers(200, 64)), bits=bits, epochs=30)
    stage = found.model.features
    assert stage is not None
    weights = stage.stages[0].weights
    assert np.abs(weights).max() == (1 << (bits - 1)) - 1
    assert found.agreement > {4: 0.9, 2: 0.8}[bits]


@pytest.mark.parametrize("bits", [4, 3])
def test_weights_of_matrices_have_8_bits(bits: int):
    with refused_by("extensions.conversion.networks.stored_networks"):
        from_network(trained(24)[1], DIGITS.X_train, bits=bits)


def test_an_epoch_moves_layers_and_matrices_against_the_loss():
    matrices = DenseNetwork([numbers(3, 4), numbers(2, 3)], [numbers(3), numbers(2)])
    X, Y = numbers(5, 4).astype(np.float64), np.eye(2)[[0, 1, 1, 0, 1]]
    assert_slope(lambda: matrices.gradient(X, Y, None)[0], X, matrices.gradient(X, Y, None)[1])


def test_a_network_that_is_too_large_is_a_failed_check():
    content = trained(24)[1]
    with refused_by("extensions.conversion.search", kind=CheckFailed):
        from_network(perceptron([numbers(64, 250), numbers(250, 250), numbers(250, 10)],
                             [numbers(250), numbers(250), numbers(10)]),
                  DIGITS.X_train)  # fmt: skip
    with refused_by("extensions.conversion.search", kind=CheckFailed):
        from_network(content, DIGITS.X_train, budget=500)


@pytest.mark.parametrize(("chain", "constants", "words"), refused("ONNX"))
def test_what_has_no_counterpart_is_one_sentence(chain: str, constants: str, words: str):
    given = {"shape": (4,), "w": numbers(4, 4), **stated(constants)}
    with pytest.raises(InputError, match=words) as error:
        load_network(network(written(chain), **given), "m.onnx")
    check_refusal(error.value)
    assert len(str(error.value)) < 700


def test_no_other_file_is_read(tmp_path: Path):
    (tmp_path / "weights.bin").write_bytes(bytes(64))
    model = onnx.ModelProto.FromString(perceptron([numbers(4, 4)], [numbers(4)]))
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], "weights.bin")
    model.graph.initializer[0].ClearField("raw_data")
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    with refused_by("extensions.conversion.networks.onnx_file"):
        from_network(path, numbers(9, 4))


@pytest.mark.parametrize("sizes", [[2**40, 2**20], [2] * 200_000])
def test_sizes_are_checked_before_arrays_are_made(sizes: list[int]):
    model = onnx.ModelProto.FromString(perceptron([numbers(4, 4)], [numbers(4)]))
    model.graph.initializer[0].dims[:] = sizes
    with refused_by("extensions.conversion.networks.onnx_file"):
        from_network(model.SerializeToString(), numbers(9, 4))


def test_many_random_networks_are_read() -> None:
    """The fuzzers compare no scores of those that are refused."""
    are_images = []
    for seed in range(120):
        chain, _ = random_chain(seed)
        with suppress(InputError):
            network = load_network(chain.content(chain.nodes, chain.name), "m.onnx")
            are_images.append(network.rule.image is not None)
    assert len(are_images) > 30
    assert sum(are_images) > 12
