"""Loops of convolutions count rows in a byte, those of the kernel beyond the image included."""

from __future__ import annotations

import pytest
from convolution_factory import random_convolution
from refusals import refused_by


@pytest.mark.parametrize(("side", "rows"), [(1, 254), (3, 252), (5, 250)])
def test_rows_and_the_kernel_fit_in_a_byte(side: int, rows: int) -> None:
    assert random_convolution(0, (rows, 5, 1), 1, side).shape == (rows, 5, 1)
    with refused_by("integer model"):
        random_convolution(0, (rows + 1, 5, 1), 1, side)
