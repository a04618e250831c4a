"""Models of averages that took longer than their bound.

The firmware's chunks are smaller than 32 pixels where pixels take long, and each of them was not
counted. What the compiler makes around a row whose pixels areas cut was counted too short, and what
setting the sums of areas to 0 takes was not counted.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import numbers_of, replace
from fuzz.bounds import check_points
from plans import plan_with
from random_shapes import Shape, random_model_of

from protonn_edge.chain.features import Features
from protonn_edge.chain.policy import without_rules
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.kernels.matvec.kernels import KernelName
from protonn_edge.quantization import IntegerChain

pytestmark = needs_emulated_avr


def busy_model(d: int, pooling: Features) -> IntegerChain:
    """Return a model each of whose weights counts, with one prototype."""
    shape = Shape(d=d, m=1, classes=2, inputs=pooling.n_outputs, before=pooling)
    model = without_rules(random_model_of(np.random.default_rng(0), shape))
    projection = np.where(np.arange(numbers_of(model)["projection"].size) % 2, 3, -2)
    return replace(
        model,
        projection=projection.reshape(numbers_of(model)["projection"].shape).astype(np.int8),
        bias=np.zeros(d, np.int64),
        accumulator_bits=24,
        multiplier=1,
    )


@pytest.mark.parametrize("kernel", ["columns", "unrolled"])
def test_averages_of_pixels_that_arrive_in_chunks(tmp_path: Path, kernel: KernelName) -> None:
    model = busy_model(7, average_pooling((16, 8), (16, 8), (15, 6)))
    plan = plan_with(model, kernel, buffered=False)
    bright = np.full((1, model.n_features), 255, np.uint8)
    check_points(kernel, model, plan, bright, tmp_path)


def test_rows_that_areas_cut(tmp_path: Path) -> None:
    model = busy_model(1, average_pooling((28, 1), (25, 1), (23, 1)))
    bright = np.full((1, model.n_features), 255, np.uint8)
    check_points("rows", model, plan_with(model, "columns"), bright, tmp_path)


def test_sums_of_a_row_of_areas_that_are_set_to_0(tmp_path: Path) -> None:
    model = busy_model(1, average_pooling((4, 64), (3, 60), (1, 30)))
    bright = np.full((1, model.n_features), 255, np.uint8)
    check_points("sums", model, plan_with(model, "columns"), bright, tmp_path)
