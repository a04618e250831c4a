"""States of two paths meet with a value that is right on both."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.forms import (
    Byte,
    Root,
    SumForm,
    byte_of,
    constant,
    plus,
    single,
    variable,
)
from protonn_edge.extensions.proof.state import ChipState, Combined, Meeting

ABOVE, ROW = Root("above", np.arange(256)), Root("row", np.arange(256))


class Parted:
    """Two states: on a row that is not 0, and on one that is."""

    def __init__(self) -> None:
        self.algebra = Algebra()
        # of the row, another root adds up to it
        self.other = Root("other", np.arange(256))
        self.row = plus(variable(ROW), variable(self.other))
        self.root, self.sums = self.algebra.cut(self.row)
        full, empty = ChipState(0), ChipState(0)
        full.narrow(self.root, self.sums != 0)
        empty.narrow(self.root, self.sums == 0)
        self.meeting = Meeting(self.algebra, self.root, full, empty)

    def third(self, form: SumForm) -> Byte:
        """Return a third of a sum, as a byte."""
        root, sums = (form.root, form.array()) if form.root else self.algebra.cut(form)
        assert root is not None
        return Byte(single(root, sums // 3), 0)


def test_a_function_of_a_sum_is_that_of_a_part_where_the_rest_is_0() -> None:
    here = Parted()
    whole = here.third(plus(variable(ABOVE), here.row))
    part, another = (here.third(plus(variable(ABOVE), constant(more))) for more in (0, 3))
    assert here.meeting.value(whole, part) is whole
    assert here.meeting.value(whole, another) is None
    assert here.meeting.value(part, whole) is part


@pytest.mark.parametrize("least", [0, 1])
def test_bytes_joined_by_or_are_0_where_all_are(least: int) -> None:
    here = Parted()
    bits = Combined(*(Byte(plus(variable(each), constant(least)), 0) for each in (ROW, here.other)))
    quotient = here.third(here.row)
    assert here.meeting.value(quotient, bits) is (None if least else quotient)
    assert here.meeting.value(bits, quotient) is None  # which are any bytes there


def test_a_sum_is_the_number_that_it_is_in_its_state() -> None:
    here = Parted()
    low = byte_of(variable(ROW), 0)
    assert here.meeting.value(0, low) == 0
    assert here.meeting.value(1, low) is None
