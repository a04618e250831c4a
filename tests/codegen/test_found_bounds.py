"""Bounds of cycles, stack and values that were too small, or not found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import AVR_GCC, needs_avr_gcc, needs_emulated_avr, skip_without
from chains import numbers_of, protonn_chain
from convolution_factory import random_convolution
from measured_predictions import build_program, measure
from plans import plan_with
from refusals import refused_by

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.kinds.protonn.prototypes.integers import exponential_table
from protonn_edge.kinds.protonn.prototypes.kernels import checked_coordinates, coordinates_of
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, named_stages

# A point far from all prototypes is far on the device, too, where its coordinates have no limits.

D = 9


def far_model() -> IntegerChain:
    """Return a model whose coordinates are 25 for the input 0, and whose prototypes are at -40."""
    return protonn_chain(
        inputs=InputQuantizer(np.zeros(1), np.ones(1), 1),
        projection=np.full((D, 1), -100, np.int8),
        bias=np.full(D, 60, np.int64),
        accumulator_bits=16,
        multiplier=30_000,
        offset=np.full(D, -2 << 16, np.int64),
        prototypes=np.full((D, 2), -40, np.int8),
        distance_shift=3,
        table=exponential_table(),
        labels=np.array([[3, 4], [5, -6]], np.int8),
        score_scale=1.0,
        classes=("one", "other"),
    )


def test_squares_are_those_of_all_inputs() -> None:
    model = far_model()
    assert not named_stages(model)["projection"].clamps
    places = named_stages(model)["projection"].run(np.array([[0], [1]], np.uint8))
    feed = named_stages(model)["prototypes"].feed
    for k, place in enumerate(coordinates_of(named_stages(model)["prototypes"])):
        differences = places[:, k, None] - numbers_of(model)["prototypes"][k]
        assert np.square(differences.astype(np.int64)).max() <= place.largest_square
        assert feed.low[k] <= places[:, k].min()
        assert places[:, k].max() <= feed.high[k]
    assert sum(checked_coordinates(named_stages(model)["prototypes"])) > 1


@needs_emulated_avr
def test_far_points_have_no_score(tmp_path: Path) -> None:
    model = far_model()
    Q = np.array([[0], [1]], np.uint8)
    assert not model.scores(Q[:1]).any()
    measured = measure(build_program(model, plan_with(model, "columns"), tmp_path), model, Q)
    assert (measured.scores == model.scores(Q)).all()


# A switch whose cases were not found: a local label of the assembler stood for its function.

_FIRMWARE = """
#include <stdint.h>
volatile uint8_t sink;
__attribute__((noinline)) static uint8_t choose(uint8_t which)
{
    __asm__ volatile("1: dec %0\\n brne 1b\\n .Lhere: nop\\n L0_: nop\\n" : "+r"(which));
    switch (which) {
    case 0: sink = 7; return 3;
    case 1: sink = 9; return 1;
    case 2: sink = 2; return 8;
    case 3: sink = 5; return 4;
    case 4: sink = 6; return 9;
    case 5: sink = 1; return 5;
    case 6: sink = 3; return 6;
    case 7: sink = 8; return 2;
    }
    return 0;
}
int main(void) { sink = choose(sink); return 0; }
"""


def test_cases_of_a_switch_behind_a_local_label_are_found(tmp_path: Path) -> None:
    skip_without(*AVR_GCC)
    elf = compile_text(_FIRMWARE, tmp_path / "firmware.elf", "-O2", "-Wa,-L")
    elf.write_bytes(elf.read_bytes().replace(b"\0L0_\0", b"\0L0\x01\0"))  # for `.` in an expression
    assert all(name in elf.read_bytes() for name in (b"\0.Lhere\0", b"\0L0\x01\0"))
    program = read_program(elf)
    assert any(symbol.name == "__tablejump2__" for symbol in program.symbols)
    assert worst_case_stack(program).bytes == 4  # the calls of main() and of choose()


# Cycles of long assembly: a path of some thousand instructions was a RecursionError.

STEPS = 5_000


def test_a_path_may_have_thousands_of_instructions() -> None:
    branches = "\n".join(f"cp r0, r1\nbrlo step{n}\nnop\nnop\nstep{n}:" for n in range(STEPS))
    listing = Listing(f"begin:\n{branches}\nend:")
    taken = {f"step{n}": 1 for n in range(STEPS)}
    assert listing.path("begin", ("end",), taken) == 3 * STEPS
    assert listing.path("begin", ("end",), {}) == 4 * STEPS


def test_a_loop_without_an_end_is_an_error() -> None:
    listing = Listing("begin:\nnop\nagain:\ndec r0\nbrne again\nend:")
    assert listing.path("begin", ("again",), {}) == 1
    with pytest.raises(ValueError, match="the path from begin has a loop"):
        listing.path("begin", ("end",), {"again": 1})


def test_a_jump_out_of_a_listing_has_no_cycles() -> None:
    listing = Listing("begin:\nbreq elsewhere\nnop\nnop\nend:")
    assert listing.path("begin", ("end",), {}) == 3
    with pytest.raises(IndexError):
        listing.path("begin", ("end",), {"elsewhere": 1})


# The stack is bounded where assembly pushes the frame pointer, uses it and pops it again.

PROGRAM = """
#include <avr/io.h>
static __attribute__((noinline)) void fill(volatile uint8_t *bytes) { bytes[PINB & 7] = 1; }
int main(void)
{
    volatile uint8_t local[8];
    fill(local);
    __asm__ volatile("push r28\\n push r29\\n clr r28\\n ldi r29, 7\\n pop r29\\n pop r28\\n");
    return local[PINC & 7];
}
"""


@needs_avr_gcc
def test_the_frame_is_known_after_the_pops(tmp_path: Path) -> None:
    report = worst_case_stack(read_program(compile_text(PROGRAM, tmp_path / "program.elf", "-O2")))
    assert 8 + 2 + 2 <= report.bytes <= 24


# Loops of convolutions count rows in a byte, those of the kernel beyond the image included.


@pytest.mark.parametrize(("side", "rows"), [(1, 254), (3, 252), (5, 250)])
def test_rows_and_the_kernel_fit_in_a_byte(side: int, rows: int) -> None:
    assert random_convolution(0, (rows, 5, 1), 1, side).shape == (rows, 5, 1)
    with refused_by("integer model"):
        random_convolution(0, (rows + 1, 5, 1), 1, side)
