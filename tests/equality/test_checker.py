"""The second check, which shares nothing with the proof."""

from __future__ import annotations

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from equality.checking import run

from protonn_edge.checker.sums import Part, Sums


@needs_emulated_avr
def test_the_checker_accepts_no_fault() -> None:
    tally = run(9, 10)
    assert tally["refused"]
    assert tally["rejected by runs"]
    assert tally["another model is rejected by runs"]
    assert tally["MISSED"] == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_of_bytes_is_that_of_its_carries(sign: int) -> None:
    """Opaque functions are given values here, and bytes are computed with carries."""
    sums, rng = Sums(), np.random.default_rng(0)
    first, other = ([sums.one(root, k) for k in range(3)] for root in (0, 1))
    carry, bytes_ = None, []
    for x, y in zip(first, other, strict=True):
        carry = sums.extended(carry, x, y, sign, 0)
        bytes_.append(sums.top(carry))
    assert all(isinstance(byte, Part) for byte in bytes_)
    number, terms = sums.total(bytes_, [5, 0, 0]) or (None, None)
    assert number == 5
    assert terms is not None
    values = {one.token: int(rng.integers(256)) for one in (*first, *other)}
    total = number + sum(values[t] * factor for each in terms.values() for t, factor in each)
    numbers = [
        sum(values[one.token] << 8 * k for k, one in enumerate(row)) for row in (first, other)
    ]
    assert (total - 5 - numbers[0] - sign * numbers[1]) % 256**3 == 0
    assert sums.total(bytes_[1:]) is None
    assert sums.total([*bytes_, 0]) is None
