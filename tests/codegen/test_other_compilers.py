"""Generated C that other compilers and chips take otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from extension_parts import additions
from forest_factory import random_chain
from generated_programs import (
    answers_in_bytes,
    compile_checked,
    compile_with,
    predicting,
    printed_by_uno,
)
from laws.conformance.instances import instances_of
from model_factory import random_inputs, random_pooling_model
from plans import plan_with

from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.codegen.planner import make_plan
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

# No signed integer overflows where an ``int`` has 16 bits, as on every AVR.

# Pixels that are 130 units wide.
WIDE = average_pooling((1, 131), (1, 131), (1, 130))

MODELS: dict[str, IntegerChain] = {
    "forest": random_chain(4, trees=3, depth=9, features=300, classes=12, share=1.0),
    **additions("ints of 16 bits"),
    "average pooling": quantize(random_pooling_model(WIDE, projections=4, prototypes=5)),
}


@needs_emulated_avr
@pytest.mark.parametrize("name", MODELS)
def test_no_overflow_of_an_int(name: str, tmp_path: Path) -> None:
    model = MODELS[name]
    Q = np.concatenate([random_inputs(2, 3, model), np.full((1, model.n_features), 255, np.uint8)])
    program = compile_checked(model, predicting(Q), tmp_path)
    expected = b"".join(answers_in_bytes(model, Q))
    assert printed_by_uno(program, len(expected)) == expected


# Labels that end with digits stay apart from each other in the assembly.


def assembled_labels(listing: Listing, number: int) -> set[str]:
    """Return the labels of a listing in the statement to which the compiler gives a number."""
    text = "".join(listing.lines).replace("%=", str(number))
    return set(re.findall(r'"(\.L\w+):', text))


def test_digits_of_a_label_do_not_run_into_those_of_its_statement() -> None:
    short, long = (Listing(f"nop\n{label}:\n") for label in ("end_1", "end_11"))
    assert assembled_labels(short, 182) & assembled_labels(long, 82) == set()


# Loops count in the register that the compiler chose for them, if another one than r24 is free.

KEPT_OFF = ("-ffixed-24", "-ffixed-25", "-w")  # arguments are still passed in them


@needs_emulated_avr
@pytest.mark.parametrize(
    ("kind", "name"),
    [("gradients", "hard cells"), ("pooling", "averages, and those of a whole image")],
)
def test_loops_count_in_their_own_register(kind: str, name: str, tmp_path: Path) -> None:
    instance = next(each for each in instances_of(kind) if each.name == name)
    model, Q = instance.model, instance.points[:3]
    plan = plan_with(model, "columns") if kind == "gradients" else make_plan(model)
    program = compile_with(model, predicting(Q), tmp_path, *KEPT_OFF, plan=plan)
    expected = b"".join(answers_in_bytes(model, Q))
    assert printed_by_uno(program, len(expected)) == expected
