from __future__ import annotations

import numpy as np

from protonn_edge.kinds.protonn.prototypes.integers import (
    EXPONENT_LIMIT,
    RBF_MAXIMUM,
    TABLE_SIZE,
    exponential_table,
    rbf_of_squares,
    tabulated_rbf,
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


def test_the_table_is_read_as_the_device_reads_it() -> None:
    limit = TABLE_SIZE << 6
    distances = np.array([0, 63, 64, 7_500, limit - 1, limit, 10**9])
    exponents = (distances + 0.5) / limit * EXPONENT_LIMIT
    table = exponential_table() / RBF_MAXIMUM
    expected = [table[0], table[0], table[1], table[117], table[255], 0, 0]
    np.testing.assert_allclose(tabulated_rbf(exponents.astype(np.float32)), expected, rtol=1e-6)
