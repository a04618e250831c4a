"""Faults that are put into the assembly on purpose are noticed."""

from __future__ import annotations

import pytest
from avr_tools import needs_avr_gcc
from extensions.proof.agreement.sources import stage_of
from extensions.proof.agreement.test_agreement import all_functions, check
from extensions.proof.faults import faults

FAULTS = faults("agreement")


@needs_avr_gcc
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed(name: str) -> None:
    fault = FAULTS[name]
    function = next(each for each in all_functions() if each.id.endswith(fault.place))
    wrong = fault.put(function.source)
    stage = stage_of(function, lambda text: text.replace(function.source, wrong))
    with pytest.raises(AssertionError):
        check(function, stage)
