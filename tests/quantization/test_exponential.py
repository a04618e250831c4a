from __future__ import annotations

import numpy as np

from protonn_edge.kinds.protonn.prototypes.integers import (
    EXPONENT_LIMIT,
    exponential_table,
    rbf_of_squares,
)


def test_table_falls_from_almost_one_to_one_128th() -> None:
    table = exponential_table()
    assert table.shape == (256,)
    assert table.dtype == np.uint8
    assert table[0] == 126  # 127 exp(-half a bin)
    assert table[255] == 1
    assert (np.diff(table.astype(int)) <= 0).all()


def test_table_is_within_half_a_unit_and_half_a_bin_of_the_exponential() -> None:
    squared = np.arange(1 << 14)
    exact = 127 * rbf_of_squares(squared, 6)
    # Half a bin of the exponent changes the RBF by at most that share of it.
    tolerance = 0.5 + exact * (np.exp(EXPONENT_LIMIT / 512) - 1)
    assert (np.abs(exponential_table()[squared >> 6] - exact) <= tolerance).all()
