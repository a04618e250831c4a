"""Confidence and the figures of a class, against textbook values."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.report.accuracy import class_figures, wilson_interval


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [
        (81, 263, (0.2553, 0.3662)),  # R. G. Newcombe (1998), table I, method 3
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (20, 20, (0.8389, 1.0)),
    ],
)
def test_the_interval_is_wilsons(right, n, expected):
    assert wilson_interval(right, n) == pytest.approx(expected, abs=5e-5)


def test_precision_goes_by_columns_and_recall_by_rows():
    first, second, third = class_figures(np.array([[8, 2, 0], [4, 6, 0], [0, 0, 0]]))
    assert (first.n, first.precision, first.recall) == (10, 8 / 12, 0.8)
    assert (second.n, second.precision, second.recall) == (10, 6 / 8, 0.6)
    assert (third.n, third.precision, third.recall) == (0, None, None)
