"""Counts of a sensor become values in the unit of a model, with its integers and without."""

import numpy as np
import pytest
from model_factory import random_model

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.model.sensor_counts import CountConversion

CONVERSION = CountConversion(np.array([4.0, 8.0]), notices=())
COUNTS = np.array([[8, 8, -4, 16], [0.5, 2, 40_000, 0]], dtype=np.float32)
VALUES = np.array([[2, 1, -1, 2], [0.125, 0.25, 10_000, 0]], dtype=np.float32)


@pytest.fixture(scope="module")
def chain() -> IntegerChain:
    integers = quantize(random_model(features=4))
    assert isinstance(integers, IntegerChain)
    return integers


@pytest.mark.parametrize("rows", [slice(None), slice(1)])
def test_counts_are_divided_by_those_of_a_unit(rows: slice) -> None:
    np.testing.assert_array_equal(CONVERSION.applied(COUNTS[rows]), VALUES[rows])


def test_values_that_are_no_counts_are_only_converted(chain: IntegerChain) -> None:
    np.testing.assert_array_equal(CONVERSION.applied(COUNTS, chain), VALUES)
    too_large = np.tile(COUNTS[1:, 1:3], 2)
    np.testing.assert_array_equal(
        CONVERSION.applied(too_large, chain), CONVERSION.applied(too_large)
    )
