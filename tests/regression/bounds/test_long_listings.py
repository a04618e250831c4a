"""Cycles of long assembly: a path of some thousand instructions was a RecursionError."""

from __future__ import annotations

import pytest

from protonn_edge.codegen.kernels.listing import Listing

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
