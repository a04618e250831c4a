"""Labels that end with digits stay apart from each other in the assembly.

The compiler replaces ``%=`` by a number. Directly behind a label's own digits, ``end_1`` of one
statement and ``end_11`` of another became the same name, and the C was not assembled.
"""

from __future__ import annotations

import re

from protonn_edge.codegen.kernels.listing import Listing


def assembled_labels(listing: Listing, number: int) -> set[str]:
    """Return the labels of a listing in the statement to which the compiler gives a number."""
    text = "".join(listing.lines).replace("%=", str(number))
    return set(re.findall(r'"(\.L\w+):', text))


def test_digits_of_a_label_do_not_run_into_those_of_its_statement() -> None:
    short, long = (Listing(f"nop\n{label}:\n") for label in ("end_1", "end_11"))
    assert assembled_labels(short, 182) & assembled_labels(long, 82) == set()
