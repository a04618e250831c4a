"""A path that returns to a state that it was in: it never ends.

One earlier state of each path is kept, and replaced after twice as many jumps back as the time
before, so a cycle of any length is found (Brent, 1980).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from protonn_edge.extensions.proof.arithmetic import Arithmetic
from protonn_edge.extensions.proof.forms import Bit, Unproven, same
from protonn_edge.extensions.proof.state import ChipState, same_mask


def is_endless(state: ChipState, arithmetic: Arithmetic) -> bool:
    """Whether nothing has changed in a state, which has jumped back, since an earlier one."""
    left, length, earlier = state.progress
    if earlier is not None and earlier.place == state.place and _equal(state, earlier, arithmetic):
        return True
    if left:
        state.progress = left - 1, length, earlier
    else:
        earlier = state.copy()
        earlier.progress = 0, 0, None
        state.progress = 2 * length, 2 * length, earlier
    return False


def _equal(one: ChipState, other: ChipState, arithmetic: Arithmetic) -> bool:
    """Whether all that decides how a path goes on is equal; the cheap way."""
    masks = one.masks.keys() | other.masks.keys()
    return (
        (one.calls, one.facts, one.memory.keys()) == (other.calls, other.facts, other.memory.keys())
        and all(map(same, (*one.registers, *one.stack), (*other.registers, *other.stack)))
        and all(same(value, other.memory[place]) for place, value in one.memory.items())
        and all(same_mask(one.masks.get(root), other.masks.get(root)) for root in masks)
        and all(map(partial(_equal_flags, arithmetic), one.flags, other.flags))
    )


def _equal_flags(arithmetic: Arithmetic, one: object, other: object) -> bool:
    if one is other:
        return True
    try:
        x, y = arithmetic.bit(one), arithmetic.bit(other)
    except Unproven:
        return False
    if isinstance(x, Bit) and isinstance(y, Bit):
        return x.root is y.root and bool(np.array_equal(x.mask, y.mask))
    return isinstance(x, int) and x == y
