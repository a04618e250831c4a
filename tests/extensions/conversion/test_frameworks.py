"""Networks of frameworks have the scores of the program that made them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from protonn_edge.extensions.conversion.networks.int8_network import Int8Network
from protonn_edge.extensions.conversion.networks.stored_networks import load_network

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
