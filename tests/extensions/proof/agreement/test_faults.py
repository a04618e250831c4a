"""Faults that are put into the assembly on purpose are noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from avr_tools import needs_avr_gcc
from extensions.proof.agreement.sources import Function, stage_of
from extensions.proof.agreement.test_agreement import all_functions, check


class Fault(NamedTuple):
    """A text of a function's assembly that is replaced the first time that it occurs."""

    function: str  # how its id ends
    old: str
    new: str


FAULTS = {
    "a shift by one bit too many": Fault(
        "bonsai_tree 0: bonsai_tree_walk", "asr   r20", "asr   r20\\n asr   r19"
    ),
    "a rounding that is left out": Fault(
        "deskew 0: average_pooling_complete_row", "ldi   r22, 0x80", "ldi   r22, 0x00"
    ),
    "a store to the wrong address": Fault(
        "window_features 0: window_features_take_sample", "std   Z+1", "std   Z+2"
    ),
    "a limit that takes the other end": Fault(
        "bonsai_tree 2: bonsai_tree_walk", "sbrc  r20, 7", "sbrs  r20, 7"
    ),
    "a class that is the smallest": Fault(
        "cascade 0: decision_find_largest", "brge  .Lnext", "brlt  .Lnext"
    ),
    "a side of a level that is taken from a zero": Fault(
        "window_features 3: window_features_take_sample", "brge  .Labove", "brne  .Labove"
    ),
    "a product of sound without a carry": Fault(
        "audio 1: audio_filter", "adc   r23, r1", "add   r23, r1"
    ),
    "an energy without a carry": Fault("audio 1: audio_filter", "adc   r18, r22", "add   r18, r22"),
    "a sum of pixels without a carry": Fault(
        "deskew 0: deskew_sum_row", "adc   %[high], %[zero]", "add   %[high], %[zero]"
    ),
    "a moment from the wrong byte": Fault(
        "deskew 0: deskew_sum_row", "add   %[moment_low], r0", "add   %[moment_low], r1"
    ),
    "an area without the carry of its rows": Fault(
        "deskew 1: average_pooling_add_row", "adc   r19, r20", "add   r19, r20"
    ),
    "a steep gradient that is taken for a flat one": Fault(
        "gradients 1: gradients_add_runs", "brcs  .Lsteep", "brcc  .Lsteep"
    ),
    "a gradient in the opposite direction": Fault(
        "gradients 1: gradients_add_runs", "ldi   r18, 4", "ldi   r18, 6"
    ),
    "a root of another sum": Fault(
        "gradients 1: gradients_take_roots", "or    r21, r1", "or    r21, r0"
    ),
}


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
