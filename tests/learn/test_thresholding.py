"""Hard thresholding keeps exactly its share of the entries, and the largest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from protonn_edge.learn.sparsity import (
    hard_threshold,
    in_shares_of_rows,
    kept_entries,
    support,
)

finite = st.floats(-1e6, 1e6, width=32)
matrices = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=finite)
shares = st.floats(0.001, 1.0)


@given(matrices, shares)
def test_exactly_the_share_is_kept(matrix: np.ndarray, share: float) -> None:
    kept = kept_entries(matrix.size, share)
    assert int(support(matrix, share).sum()) == kept
    assert np.count_nonzero(hard_threshold(matrix, share)) <= kept


@given(matrices, shares)
def test_what_is_kept_is_at_least_as_large_as_what_is_not(matrix: np.ndarray, share: float) -> None:
    chosen = support(matrix, share)
    assert np.abs(matrix[chosen]).min() >= np.abs(matrix[~chosen]).max(initial=0.0)


@given(matrices, shares)
def test_kept_entries_are_unchanged_and_the_rest_is_zero(matrix: np.ndarray, share: float) -> None:
    thresholded, chosen = hard_threshold(matrix, share), support(matrix, share)
    assert thresholded.dtype == np.float32
    assert np.array_equal(thresholded[chosen], matrix[chosen])
    assert not thresholded[~chosen].any()


@given(matrices, shares)
def test_thresholding_twice_is_thresholding_once(matrix: np.ndarray, share: float) -> None:
    once = hard_threshold(matrix, share)
    assert np.array_equal(hard_threshold(once, share), once)


@given(matrices)
def test_a_share_of_one_keeps_everything(matrix: np.ndarray) -> None:
    assert np.array_equal(hard_threshold(matrix, 1.0), matrix)


def test_of_equal_entries_the_first_are_kept() -> None:
    matrix = np.array([[1, -1, 1], [2, 1, 0]], dtype=np.float32)
    assert hard_threshold(matrix, 0.5).tolist() == [[1, -1, 0], [2, 0, 0]]


@pytest.mark.parametrize(
    ("size", "share", "kept"),
    [(10, 0.3, 3), (100, 0.29, 29), (10, 0.39, 3), (10, 0.01, 1), (7, 1.0, 7)],
)
def test_a_share_is_never_exceeded_but_one_entry_is_left(
    size: int, share: float, kept: int
) -> None:
    assert kept_entries(size, share) == kept


def test_entries_in_shares_of_their_rows_do_not_depend_on_the_rows_lengths() -> None:
    matrix = np.array([[3, 4, 0], [0.003, 0.004, 0], [0, 0, 0]], dtype=np.float32)
    found = in_shares_of_rows(matrix)
    np.testing.assert_allclose(found, [[0.6, 0.8, 0], [0.6, 0.8, 0], [0, 0, 0]], rtol=1e-6)
