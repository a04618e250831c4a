"""Networks of frameworks, and random ones, have the scores of the program that made them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.conversion.random_networks import random_chain

from protonn_edge.extensions.conversion.networks.int8_network import Int8Network
from protonn_edge.extensions.conversion.networks.networks import (
    _equalized,
    _of_bytes,
    _rectified,
)
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.features.convolution.train.layers import Convolution
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.system.errors import InputError

NETWORKS = 120
TOLERANCE = 2e-3  # of sums in float32, in another order
SURE = 1e-2  # answers are compared where the best scores differ by more


def scores_of(rule: Any, X: np.ndarray) -> np.ndarray:
    """Return the scores as the network itself has them: a single one for two classes."""
    found = rule.scores(X)
    return found if rule.weights[-1].shape[0] > 1 else found[:, 1:] - found[:, :1]


def answers_of(output: np.ndarray, threshold: float) -> np.ndarray:
    """Return the class of each point by a network's last output."""
    flat = output.reshape(len(output), -1)
    if output.dtype.kind == "i":
        return flat
    if flat.shape[1] == 1:
        return flat > threshold
    return flat.argmax(axis=1, keepdims=True)


def assert_same_of_bytes(rule: Any, X: np.ndarray) -> None:
    """Compare a network of bytes with that of the values they stand for; the edge may differ."""
    if any(isinstance(layer, Convolution) and layer.layout.padded for layer in rule.layers):
        return
    pixels = PixelScale.between(float(X.min()), float(X.max()), float(X.min()))
    values = pixels.to_bytes(X)
    found = _of_bytes(rule, pixels).scores(values)
    expected = rule.scores(pixels.zero + pixels.step * values)
    np.testing.assert_allclose(found, expected, TOLERANCE, TOLERANCE * (1 + np.abs(expected).max()))


def test_a_network_is_refused_or_computes_what_onnxruntime_does():
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[test]'")
    runtime.set_default_logger_severity(4)
    counts: Counter[str] = Counter()
    for seed in range(NETWORKS):
        chain, scores = random_chain(seed)
        X = chain.rng.normal(size=(6, *chain.points)).astype(np.float32)
        try:
            rule = load_network(chain.content(chain.nodes, chain.name), "m.onnx").rule
        except InputError as error:
            assert "node" in str(error) or "m.onnx" in str(error)  # noqa: PT017
            continue
        both = chain.content(chain.nodes, *dict.fromkeys((scores, chain.name)))
        outputs = runtime.InferenceSession(both).run(None, {"x": X})
        expected, last = outputs[0].reshape(len(X), -1), outputs[-1]
        found = scores_of(rule, rule.rows(X))
        close = {"rtol": TOLERANCE, "atol": TOLERANCE * (1 + np.abs(expected).max())}
        np.testing.assert_allclose(found, expected, **close, err_msg=f"seed {seed}")
        alone = "Sigmoid" in [each.op_type for each in chain.nodes]
        ordered = np.sort(expected if len(expected[0]) > 1 else np.c_[-expected, expected], axis=1)
        sure = ordered[:, -1] - ordered[:, -2] > SURE
        answers = rule.answers(rule.rows(X))[:, None]
        assert (answers_of(last, alone / 2) == answers)[sure].all(), f"seed {seed}"
        counts["read"] += 1
        if rule.image is not None:
            ready = _equalized(_rectified(rule, rule.rows(X)), rule.rows(X))
            found = scores_of(ready, rule.rows(X))
            np.testing.assert_allclose(found, expected, **close, err_msg=f"seed {seed}")
            assert_same_of_bytes(rule, rule.rows(X))
            counts["images"] += 1
    assert counts["read"] > NETWORKS / 4
    assert counts["images"] > NETWORKS / 10


pytest.importorskip("onnx", reason="needs onnx: pip install 'protonn-edge[onnx]'")
FOLDER = Path(__file__).parents[2] / "data" / "networks"
ANSWERS = json.loads((FOLDER / "answers.json").read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(set(ANSWERS) - {"versions"}))
def test_a_network_gives_the_scores_of_its_framework(name: str):
    expected = np.array(ANSWERS[name]["scores"])
    shape = ANSWERS[name]["shape"]
    points = np.random.default_rng(0).random((len(expected), *shape), np.float32)
    network = load_network(FOLDER / f"{name}.onnx", name).rule
    if isinstance(network, Int8Network):  # whose values may differ by one
        outputs = network.outputs(network.rows(points)).astype(int)
        real = (outputs - network.output_zero) * network.output_step
        np.testing.assert_allclose(real, expected, rtol=0, atol=1.01 * network.output_step)
        return
    scores = network.scores(network.rows(points))
    if not name.startswith("pytorch"):  # the others export probabilities
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3)


def test_files_are_small():
    sizes = [path.stat().st_size for path in FOLDER.iterdir()]
    assert max(sizes) < 60_000
    assert sum(sizes) < 300_000
