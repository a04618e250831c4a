"""Rows that were all interrupted had a rate, the mean of no steps, with a warning of NumPy."""

from __future__ import annotations

import numpy as np

from protonn_edge.data.clock import Clock


def test_rows_without_a_neighbour_have_no_rate() -> None:
    times, seams = np.array([0.0, 5.0, 0.0]), np.array([False, True, True])
    with np.errstate(all="raise"):
        assert Clock.of(times, seams).interval == 0
