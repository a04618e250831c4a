"""Faults that are put into the assembly on purpose are noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from agreement.sources import Function, stage_of
from agreement.test_agreement import all_functions, check, needs_z3
from avr_tools import needs_avr_gcc


class Fault(NamedTuple):
    """A text of a function's assembly that is replaced the first time that it occurs."""

    function: str  # how its id ends
    old: str
    new: str


_ADD, _WIDE_ADD = "projection 0: projection_add_0", "projection 2: projection_add_0"
_LARGEST, _WALK = "linear 0: decision_find_largest", "bonsai_tree 0: bonsai_tree_walk"
_COMPUTE, _MASKED_ADD = "convolution 0: convolution_compute", "projection 3: projection_add_0"
_ROW = "average_pooling 0: average_pooling_complete_row"
_WIDE = "linear 9: linear_add_0"
_SAMPLE = "window_features 0: window_features_take_sample"

FAULTS = {
    "a carry that is left out": Fault(_ADD, "adc   r5, r1", "add   r5, r1"),
    "one carry too many": Fault(_ADD, "add   r4, r0", "adc   r4, r0"),
    "a product computed as unsigned": Fault(_ADD, "mulsu r22", "mul   r22"),
    "a sum extended without its sign": Fault(_WIDE_ADD, "sbc   r20, r20", "clr   r20"),
    "a sign that is left out of a sum's upper byte": Fault(_WIDE, "adc   r7, r20", "adc   r7, r1"),
    "a sign taken from the wrong product": Fault(
        _WIDE, 'mulsu r22, r23\\n"\n        "    sbc   r20, r20', "sbc   r20, r20\\n mulsu r22, r23"
    ),
    "a sum loaded into the wrong register": Fault(_WIDE, "ld    r5, X+", "ld    r6, X+"),
    "a wrong number of weights skipped for an input of 0": Fault(
        _WIDE, "adiw  r30, 6", "adiw  r30, 5"
    ),
    "a loop with one pass too many": Fault(
        "pooling 1: pooling_average", "%[left], 1", "%[left], 2"
    ),
    "a loop with one pass too few": Fault(_LARGEST, "%[classes]\\n", "%[classes]-1\\n"),
    "a branch with the wrong condition": Fault(_LARGEST, "brge", "brlo"),
    "a shift by one bit too many": Fault(_WALK, "asr   r20", "asr   r20\\n asr   r19"),
    "a rounding that is left out": Fault(_ROW, "ldi   r22, 0x80", "ldi   r22, 0x00"),
    "a clobber that is missing": Fault(_ROW, '"r16", "r17", ', ""),
    "an r1 that is not cleared": Fault("dense 0: dense_rectify", "clr   __zero_reg__", "nop"),
    "a store to the wrong address": Fault(_SAMPLE, "std   Z+1", "std   Z+2"),
    "a saved pointer that is lost": Fault(_COMPUTE, "pop   r28", "pop   r26"),
    "a test of the wrong mask bit": Fault(_MASKED_ADD, "sbrs  r24, 3", "sbrs  r24, 2"),
}


@needs_z3
@needs_avr_gcc
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed(name: str) -> None:
    fault = FAULTS[name]
    function = next(each for each in all_functions() if each.id.endswith(fault.function))
    assert fault.old in function.source
    stage = stage_of(function, changed(function, fault))
    with pytest.raises(AssertionError):
        check(function, stage)


def changed(function: Function, fault: Fault) -> Callable[[str], str]:
    """Return what puts a fault into generated C."""
    wrong = function.source.replace(fault.old, fault.new, 1)
    return lambda text: text.replace(function.source, wrong)
