"""Assembly that counts its own cycles."""

from __future__ import annotations

import pytest

from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.features.gradients.loop import pixel_loop

LOOP = Listing("""
    next:
        ld   r0, X+     ; a value
        sbrc r0, 7
        rjmp other
        add  r1, r0
        brcc next
    other:
        dec  r2
        brne next
    end:
""")


@pytest.mark.parametrize(
    ("taken", "cycles"),
    [
        ({}, 7),
        ({"next": 1}, 8),
        ({"r0, 7": 1}, 8),
        ({"r0, 7": 0, "next": 1}, 8),
    ],
)
def test_ways_are_counted_by_what_they_take(taken: dict[str, int], cycles: int) -> None:
    assert LOOP.path("next", ("next", "end"), taken) == cycles


def test_lines_are_those_of_inline_assembly() -> None:
    assert LOOP.lines[:4] == (
        '".Lnext_%=:\\n"',
        '"    ld    r0, X+\\n" /* a value */',
        '"    sbrc  r0, 7\\n"',
        '"    rjmp  .Lother_%=\\n"',
    )
    assert LOOP.lines[-1] == '".Lend_%=:\\n"'
    assert LOOP.code_bytes == 14


@pytest.mark.parametrize("directions", [4, 8])
def test_a_pixel_without_a_gradient_takes_16_cycles(directions: int) -> None:
    loop = pixel_loop(directions, 64)
    assert loop.path("pixel", ("pixel",), {"pixel": 1, "gradient": 0}) == 16


def test_a_fixed_address_takes_two_words_and_two_cycles() -> None:
    moved = Listing("begin:\n lds r26, place\n sts place, r26\n end:")
    assert (moved.code_bytes, moved.path("begin", ("end",), {})) == (8, 4)
