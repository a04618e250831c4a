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
