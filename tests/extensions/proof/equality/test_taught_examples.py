"""A prediction is proven for any taught examples, and none with other votes.

Each proof takes a second: squares are tables of all pairs of two bytes.
"""

from __future__ import annotations

import dataclasses

import pytest
from avr_tools import needs_avr_gcc
from extensions.proof.equality.fuzz import Example, encoded, program_of
from extensions.proof.equality.programs import linked_program
from laws.conformance.instances import programs_of

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.extensions.proof.difference import prove
from protonn_edge.extensions.proof.exploration import Explorer
from protonn_edge.extensions.proof.forms import Unproven
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.model.integer_chain import IntegerChain

_NOTHING = bytes(2)


@pytest.fixture(scope="module")
def teachable(tmp_path_factory: pytest.TempPathFactory) -> tuple[LinkedProgram, IntegerChain]:
    """Return a program of eight prototypes, with room for four examples."""
    program = programs_of("prototypes")[4]
    folder = tmp_path_factory.mktemp("teachable")
    return linked_program(program, folder), program.instance.model


@needs_avr_gcc
def test_a_teachable_program_is_proven(teachable: tuple[LinkedProgram, IntegerChain]) -> None:
    prove(*teachable)


@needs_avr_gcc
def test_a_model_with_room_for_more_examples_is_not_proven(
    teachable: tuple[LinkedProgram, IntegerChain],
) -> None:
    program, model = teachable
    *before, last = model.own_stages
    other = dataclasses.replace(last, voters=dataclasses.replace(last.voters, room=5))
    with pytest.raises(Unproven, match="the loop over taught examples ends elsewhere"):
        prove(program, dataclasses.replace(model, own_stages=(*before, other)))


@needs_avr_gcc
@pytest.mark.parametrize(
    ("behind", "reason"),
    [
        ("near", "an example without a class"),
        ("place", "an example is inserted"),
        ("voter", "votes are doubled"),
    ],
)
def test_a_program_with_other_votes_is_not_proven(
    behind: str, reason: str, teachable: tuple[LinkedProgram, IntegerChain]
) -> None:
    """The last instruction in front of a label is left out, or a key is compared without it."""
    program, model = teachable
    place = min(m.address for m in program.marks if f".prototypes_{behind}." in m.name)
    here = program.reached(place - 2)
    if behind == "place":
        here = program.reached(place)
        while here.name != "cpc":
            here = program.reached(here.end)
    code = program.code[: here.address] + _NOTHING + program.code[here.end :]
    with pytest.raises(Unproven, match=reason):
        prove(dataclasses.replace(program, code=code), model)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (encoded("in", d=20, A=0x20), "the EEPROM's data before an address"),
        (encoded("sbi", A=0x1F, b=0), "an undefined address"),
        (encoded("sbi", A=0x1F, b=1), "it writes I/O 0x1f"),
        (
            encoded("out", A=0x21, r=1) + encoded("out", A=0x22, r=1) + encoded("sbi", A=0x1F, b=0),
            "the EEPROM at an unknown place",
        ),
    ],
    ids=["data", "no address", "write", "no content"],
)
def test_only_known_bytes_of_the_eeprom_are_read(code: bytes, reason: str) -> None:
    machine = Machine(program_of(code + encoded("ret")))
    machine.eeprom = {1: 7}
    with pytest.raises(Unproven, match=reason):
        Explorer(machine).run(Example(0).start(machine, [0] * 32))
