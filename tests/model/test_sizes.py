"""The paper's accounting: 4 bytes a value, 8 where a matrix is smaller stored sparse."""

from __future__ import annotations

import numpy as np
from chains import replace
from model_factory import random_model

from protonn_edge.model.head import matrices_of, paper_bytes


def test_dense_matrices_take_four_bytes_a_value() -> None:
    model = random_model(features=12, projections=5, prototypes=9, classes=4)
    assert paper_bytes(matrices_of(model.head).values()) == 4 * (5 * 12 + 5 * 9 + 4 * 9)


def test_sparse_matrix_takes_eight_bytes_a_value_until_dense_is_smaller() -> None:
    model = random_model(features=12, projections=5, prototypes=9, classes=4)
    others = 4 * (5 * 9 + 4 * 9)
    for nonzero in (1, 29, 30, 31, 60):
        W = np.zeros(60, np.float32)
        W[:nonzero] = 1
        sparse = replace(model, projection=W.reshape(5, 12))
        assert paper_bytes(matrices_of(sparse.head).values()) == others + min(8 * nonzero, 240)
