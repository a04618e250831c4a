"""Compare the symbolic instructions with simavr, over registers and all flags.

    PYTHONPATH=tests python -m equality.instructions [STATES]

The programs are those of the test of `agreement`'s interpreter: a function for each instruction,
which takes registers and flags from a record and puts them back. Here all records are one input,
and an instruction is executed once for all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from avr_programs import compile_text
from extensions.proof.agreement.test_machine import INSTRUCTIONS, RECORD, _program
from generated_programs import printed_by_uno

from protonn_edge.chips.avr.program import LinkedProgram, read_program
from protonn_edge.extensions.proof.equality import initial_bytes
from protonn_edge.extensions.proof.exploration import Explorer
from protonn_edge.extensions.proof.forms import Bit, Byte, Root, Unproven, single, variable
from protonn_edge.extensions.proof.instructions import ACTIONS
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.extensions.proof.state import ChipState, Status

OTHER = {"EEPROM": "0x1f", "the place of the stack": "0x3d"}
"""What a proof has no numbers for."""
COMPARED = [
    (number, text)
    for number, text in enumerate(INSTRUCTIONS)
    if not any(each in text for each in OTHER.values())
]


def records(seed: int, count: int) -> np.ndarray:
    """Return random records, with many values at the ends."""
    rng = np.random.default_rng(seed)
    corners = rng.choice([0, 1, 127, 128, 255], (count, RECORD))
    drawn = np.where(
        rng.random((count, RECORD)) < 0.4, corners, rng.integers(0, 256, corners.shape)
    )
    drawn[:, 0] &= 0x7F  # interrupts stay off
    return drawn


def emulated(drawn: np.ndarray, folder: Path) -> tuple[LinkedProgram, np.ndarray]:
    """Return the program, and what simavr makes of records: (instructions, records, bytes)."""
    elf = compile_text(_program(drawn), folder / "all.elf", "-O1")
    shape = len(INSTRUCTIONS), len(drawn), 1 + RECORD
    received = printed_by_uno(elf, int(np.prod(shape)))
    answers = np.frombuffer(received, np.uint8).reshape(shape)[:, :, 1:].copy()
    answers[:, :, 0] &= 0x7F  # proofs have no interrupts
    return read_program(elf), answers


def executed(program: LinkedProgram, number: int, drawn: np.ndarray) -> np.ndarray:
    """Return what a symbolic execution makes of records, (records, bytes)."""
    initial = initial_bytes(program, program.variables)
    machine = Machine(program, ACTIONS, initial)
    which = Root("record", np.arange(len(drawn)))
    state = ChipState(0)
    state.stack = machine.stack()
    state.registers = [
        Byte(variable(Root(f"r{k}", np.arange(256))), 0) if k != 1 else 0 for k in range(32)
    ]
    place = next(each.address for each in program.variables if each.name.startswith("record."))
    state.registers[24:26] = place & 255, place >> 8
    for at in range(RECORD):
        form = single(which, drawn[:, at])
        state.memory[place + at] = Byte(form, 0) if form.tables else form.constant
    entry = program.names.address_of(f"run_{number}")
    assert entry is not None
    machine.enter(state, entry)
    found = np.full(drawn.shape, -1)
    for end in Explorer(machine).run(state):
        lanes = end.masks.get(which, np.full(len(drawn), fill_value=True))
        assert end.masks.keys() <= {which}
        for at in range(RECORD):
            found[lanes, at] = _over(end.memory[place + at], machine, len(drawn))[lanes]
    return found


def _over(value: Any, machine: Machine, lanes: int) -> np.ndarray:
    """Return a byte's values for all records."""
    if isinstance(value, Status):
        bits = [machine.arithmetic.bit(each) if each is not None else 0 for each in value.flags[:7]]
        masks = [each.mask if isinstance(each, Bit) else np.full(lanes, each) for each in bits]
        return sum(mask.astype(np.int64) << k for k, mask in enumerate(masks))
    return np.full(lanes, value) if isinstance(value, int) else value.array()


def compare(seed: int, count: int) -> int:
    """Compare instructions on as many records each; return the number of states."""
    drawn = records(seed, count)
    with TemporaryDirectory() as folder:
        program, expected = emulated(drawn, Path(folder))
    for number, text in COMPARED:
        try:
            found = executed(program, number, drawn)
        except Unproven as unproven:
            raise AssertionError(f"{text}: {unproven}") from unproven
        for record, wanted, made in zip(drawn, expected[number], found, strict=True):
            assert (made == wanted).all(), (text, record, made, wanted)
    return len(COMPARED) * count


if __name__ == "__main__":
    wanted, compared, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, 0, 1
    while compared < wanted:
        compared += compare(seed, 250)
        seed += 1
        click.echo(f"{compared:,} states of {len(COMPARED)} instructions are equal")
