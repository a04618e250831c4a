"""The second check, which shares nothing with the proof."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from extensions.proof.equality.checker_fuzz import fuzz
from extensions.proof.equality.checking import run

from protonn_edge.extensions.proof.checker import sums
from protonn_edge.extensions.proof.checker.sums import SumPart, SumTable


def test_the_checker_shares_nothing_with_the_proof() -> None:
    folder = Path(sums.__file__).parent
    imports = re.findall(
        r"^from (\S*proof\S*) import", "".join(map(Path.read_text, folder.glob("*.py"))), re.M
    )
    assert {name.rpartition(".")[0] for name in imports} == {
        "protonn_edge.extensions.proof.checker"
    }


def test_random_programs_do_what_the_checker_says() -> None:
    tally = fuzz(range(30))
    assert tally["sums"] > 5
    assert tally["functions"] > 500


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
    made, rng = SumTable(), np.random.default_rng(0)
    first, other = ([made.one(root, k) for k in range(3)] for root in (0, 1))
    carry, bytes_ = None, []
    for x, y in zip(first, other, strict=True):
        carry = made.extended(carry, x, y, sign, 0)
        bytes_.append(made.top(carry))
    assert all(isinstance(byte, SumPart) for byte in bytes_)
    number, terms = made.total(bytes_, [5, 0, 0]) or (None, None)
    assert number == 5
    assert terms is not None
    values = {one.token: int(rng.integers(256)) for one in (*first, *other)}
    total = number + sum(values[t] * factor for each in terms.values() for t, factor in each)
    numbers = [
        sum(values[one.token] << 8 * k for k, one in enumerate(row)) for row in (first, other)
    ]
    assert (total - 5 - numbers[0] - sign * numbers[1]) % 256**3 == 0
    assert made.total(bytes_[1:]) is None
    assert made.total([*bytes_, 0]) is None
