"""From float trees to integers: how near, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from extensions.research.bonsai_factory import (
    random_bonsai_model,
    random_kernel_chain,
    random_kernel_model,
)
from model_factory import random_points
from refusals import refused_by

from protonn_edge.extensions.research.kinds.bonsai.integers import Sums
from protonn_edge.model.integer_chain import named_stages
from protonn_edge.model.quantization import quantize
from protonn_edge.model.stored import described


def test_one_large_weight_does_not_make_the_others_coarse() -> None:
    model = random_kernel_model(1, features=40)
    weights = model.head.weights.copy()
    weights[:, 0] = 30
    inputs, X = model.inputs, random_points(1, 300, 40)
    deviation = inputs.deviation.copy()
    deviation[0] /= 1e4
    X[:, 0] = inputs.mean[0]
    model = replace(model, weights=weights, inputs=replace(inputs, deviation=deviation))
    integers, expected = quantize(model), model.scores(X)
    scores = integers.scores(integers.quantize(X)) * integers.score_scale
    assert np.median(np.abs(scores - expected)) < 0.1 * expected.std()


@pytest.mark.parametrize(
    "changes",
    [
        {"weight_shift": 9},
        {"weight_shift": 0},
        {"weights": Sums(np.full((9, 40), 127, np.int8), np.zeros(9, int))},
        {"branches": Sums(np.zeros((2, 40), np.int8), np.zeros(2, int))},
        {"gates": Sums(np.zeros((6, 40), np.int8), np.zeros(6, int))},
        {"table": np.zeros(255, np.int8)},
    ],
)
def test_what_could_overflow_is_refused(changes: dict[str, object]) -> None:
    stage = named_stages(random_kernel_chain(0))["bonsai_tree"]
    with refused_by("model.integer_stage"):
        replace(stage, **changes)


def test_the_first_stage_of_a_tree_behind_a_projection_describes_its_sums() -> None:
    first, last = quantize(random_bonsai_model()).own_stages
    assert described(first)["accumulator_bits"] == 16
    assert "accumulator_bits" not in described(last)
