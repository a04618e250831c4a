"""Networks that fine-tuning made worse than they were without it, or too large for their board."""

from __future__ import annotations

import numpy as np
import pytest
from extensions.conversion.onnx_factory import network, node, perceptron

from protonn_edge import from_network
from protonn_edge.data.division import held_out_rows
from protonn_edge.model.quantization import quantize


@pytest.mark.parametrize("seed", [26, 30, 39])
def test_held_out_points_are_as_right_as_without_fine_tuning(seed: int) -> None:
    """Training on the scores had made these worse, and fine-tuning began there."""
    rng = np.random.default_rng(seed)
    nodes = [node("Conv", "x w", "a"), node("Relu", "a", "b"),
             node("Flatten", "b", "c"), node("Gemm", "c v", "y")]  # fmt: skip
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
