"""What models of any kind of classifier have in common beside their scores."""

from __future__ import annotations

import numpy as np
import pytest
from linear_factory import random_linear_model

from protonn_edge.kinds.protonn.head import protonn_head
from protonn_edge.model.head import paper_bytes
from protonn_edge.model.model import units_of, with_units_of
from protonn_edge.system.errors import InputError


def test_a_matrix_counts_whole_or_by_its_values_and_places() -> None:
    sparse = np.zeros((4, 5))
    sparse[1, 2:4] = 7
    assert paper_bytes([np.ones((3, 5))]) == 4 * 15
    assert paper_bytes([np.ones((3, 5)), sparse]) == 4 * 15 + 4 * 2 * 2


def test_units_are_those_of_the_points() -> None:
    X = np.random.default_rng(0).normal(size=(30, 5)).round(1)
    assert units_of(with_units_of(random_linear_model(features=5), X)).tolist() == [1] * 5


def test_another_kind_than_the_one_that_is_needed_is_named() -> None:
    with pytest.raises(InputError, match="of the kind 'protonn', but the kind is 'linear'"):
        protonn_head(random_linear_model(), "the converter")
