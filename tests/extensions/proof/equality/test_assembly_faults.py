"""Programs with faults in their assembly are not proven."""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc
from extensions.proof.agreement.sources import functions_of
from extensions.proof.equality.programs import linked
from extensions.proof.faults import faults
from laws.conformance.instances import programs_of

from protonn_edge.extensions.proof.difference import prove
from protonn_edge.extensions.proof.forms import Unproven

FAULTS = faults("proof for every input")
LONG = {  # to be noticed: seconds each
    "a bias in the wrong register",
    "a wrong number of weights skipped for an input of 0",
}


@needs_avr_gcc
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] * (name in LONG)) for name in FAULTS],
)
def test_a_fault_is_not_proven(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    kind, number, function = fault.place.split()
    program = programs_of(kind)[int(number)]
    own = functions_of(program, int(number))
    source = next(each.source for each in own if each.name == function)
    wrong = fault.put(source)
    model = program.instance.model
    changed = linked(model, program.plan, tmp_path, change=lambda text: text.replace(source, wrong))
    with pytest.raises(Unproven):
        prove(changed, model)
