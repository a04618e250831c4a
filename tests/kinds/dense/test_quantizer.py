"""From float layers to integers: how near, how many bytes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of
from dense_factory import random_chain, random_dense_model
from model_factory import random_points
from refusals import refused_by

from protonn_edge.codegen.planner import plans
from protonn_edge.kinds.dense.integers import IntegerDense
from protonn_edge.model.integer_chain import own_inputs
from protonn_edge.model.matvec import packed
from protonn_edge.model.quantization import quantize


def test_values_of_training_points_fill_a_byte() -> None:
    model = random_dense_model(2, features=60, hidden=(20, 10))
    integers = quantize(model)
    values = own_inputs(integers, integers.quantize(random_points(2, 300, 60)))
    for stage in integers.own_stages[:-1]:
        values = stage.run(values)
        assert np.quantile(values, 0.9999) > 100
        assert np.mean(values == 255) < 0.01


@pytest.mark.parametrize(
    "changes",
    [
        {"accumulator_bits": 32},
        {"bias": np.array([32500])},
        {"multiplier": 256},
        {"weights": np.ones((256, 2), np.int8)},
    ],
)
def test_what_could_overflow_is_refused(changes: dict[str, object]) -> None:
    fields = {
        "weights": np.array([[5, -7]], np.int8),
        "bias": np.array([0]),
        "accumulator_bits": 16,
        "input_maximum": 63,
        "multiplier": 3,
    }
    IntegerDense(**fields)
    with refused_by("model.integer_stage"):
        IntegerDense(**fields | changes)


@pytest.mark.parametrize(("density", "largest"), [(1.0, 127), (0.1, 127), (1.0, 7)])
def test_weights_count_as_in_the_smaller_table_of_a_device(density: float, largest: int) -> None:
    chain = random_chain(0, bits=(24, 24), largest=(largest, 60), density=density)
    (weights,) = chain.own_stages[0].parameters()
    whole = numbers_of(chain)["weights"][0]
    assert weights.nbytes == (packed(whole) if largest == 7 else whole).nbytes
    assert weights.nbytes <= max(plan.table_bytes for plan in plans(chain))
