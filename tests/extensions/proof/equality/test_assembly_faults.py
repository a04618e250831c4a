"""Programs with faults in their assembly are not proven."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from avr_tools import needs_avr_gcc
from conformance.instances import programs_of
from extensions.proof.agreement.sources import functions_of
from extensions.proof.equality.programs import linked

from protonn_edge.extensions.proof.difference import prove
from protonn_edge.extensions.proof.forms import Unproven


class Fault(NamedTuple):
    """A text of a function's assembly that is replaced the first time that it occurs."""

    kind: str
    number: int  # of the program of conformance
    function: str
    old: str
    new: str


_BYTE = "linear", 9, "linear_add_0"
_WIDE = "linear", 8, "linear_add_0"
_WORD = "dense", 2, "linear_add_0"
_LARGEST = "linear", 8, "decision_find_largest"

FAULTS = {
    "a carry that is left out": Fault(*_WORD, "adc   r5, r1", "add   r5, r1"),
    "one carry too many": Fault(*_WORD, "add   r4, r0", "adc   r4, r0"),
    "a product computed as unsigned": Fault(*_BYTE, "mulsu r22", "mul   r22"),
    "a sum extended without its sign": Fault(*_BYTE, "sbc   r20, r20", "clr   r20"),
    "a sign that is left out of a sum's upper byte": Fault(*_WIDE, "adc   r7, r20", "adc   r7, r1"),
    "a sign taken from the wrong product": Fault(
        *_WIDE,
        'mulsu r22, r23\\n"\n        "    sbc   r20, r20',
        "sbc   r20, r20\\n mulsu r22, r23",
    ),
    "a sum loaded into the wrong register": Fault(*_WIDE, "ld    r5, X+", "ld    r6, X+"),
    "a wrong number of weights skipped for an input of 0": Fault(
        *_WIDE, "adiw  r30, 6", "adiw  r30, 5"
    ),
    "a loop with one pass too many": Fault(
        "pooling", 2, "pooling_average", "%[left], 1", "%[left], 2"
    ),
    "a loop with one pass too few": Fault(*_LARGEST, "%[classes]\\n", "%[classes]-1\\n"),
    "a branch with the wrong condition": Fault(*_LARGEST, "brge", "brlo"),
    "a clobber that is missing": Fault(*_WIDE, '"r16", "r17", ', ""),
    "an r1 that is not cleared": Fault(*_BYTE, "clr   __zero_reg__", "nop"),
    "a saved pointer that is lost": Fault("forest", 1, "forest_score", "pop   r28", "pop   r26"),
}


@needs_avr_gcc
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_not_proven(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    program = programs_of(fault.kind)[fault.number]
    own = functions_of(program, fault.number)
    source = next(each.source for each in own if each.name == fault.function)
    assert fault.old in source
    wrong = source.replace(fault.old, fault.new, 1)
    model = program.instance.model
    changed = linked(model, program.plan, tmp_path, change=lambda text: text.replace(source, wrong))
    with pytest.raises(Unproven):
        prove(changed, model)
