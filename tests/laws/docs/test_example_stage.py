"""The stage of docs/contributing.md is a stage like all others: rendered, run, bounded."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from generated_programs import compile_model, compile_with, link_with, marked_cycles
from model_factory import random_inputs, random_model

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.cores import UNO_CORE
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.kernels.kernel import kernels_of
from protonn_edge.codegen.plan import Plan, plan_with
from protonn_edge.codegen.renderer import render_c
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

FEATURES = 70

# Computes something within marks that the emulator counts.
MARKED = """
#include <avr/io.h>
#include "pnn_model.h"
static pnn_input_t features[PNN_FEATURES] = { POINT };
int main(void)
{
    pnn_begin();
    GPIOR0 = 1;
    CALL;
    GPIOR0 = 0;
    for (;;) {
    }
}
"""


@pytest.fixture
def scale(example: None) -> IntegerStage:
    """Return an instance of the stage, whose kind is known while a test runs."""
    from scale import integers

    factors = np.random.default_rng(0).integers(0, 256, FEATURES).astype(np.uint8)
    factors[:2] = 0, 255
    return integers.IntegerScale(factors, model_behind().quantizer.maximum)


def model_behind() -> IntegerChain:
    return quantize(random_model(3, features=FEATURES, projections=7, prototypes=20))


def plans_of(scale: IntegerStage, model: IntegerChain) -> list[Plan]:
    """Return every plan of the model with the stage before it."""
    kernels = [kernels_of(stage, UNO_CORE) for stage in (scale, *model.stages)]
    return [plan_with(each) for each in product(*kernels)]


def test_its_values_are_those_of_a_loop(scale: IntegerStage) -> None:
    x = random_inputs(0, 20, model_behind())
    expected = [
        [int(b) * int(f) // 256 for b, f in zip(row, scale.factors, strict=True)] for row in x
    ]
    assert scale.run(x).tolist() == expected
    assert [scale.output.low.tolist(), scale.output.high.tolist()] == [expected[0], expected[-1]]
    assert [each.tolist() for each in scale.parameters()] == [scale.factors.tolist()]


def test_it_refuses_what_does_not_fit(scale: IntegerStage) -> None:
    with pytest.raises(InputError, match="inputs of up to 256 do not fit a byte"):
        type(scale)(scale.factors, 256)


def test_its_c_gives_the_values_of_the_reference(scale: IntegerStage) -> None:
    model = model_behind()
    Q = random_inputs(1, 60, model)
    short = Q.copy()
    short[:, FEATURES - FEATURES // 3 :] = 0
    for plan in plans_of(scale, model):
        with host_program(model, plan, sanitize=True) as program:
            for feeding in ("whole", "push", "split", "chunks"):
                assert (program.run(Q, feeding)[1] == model.scores(scale.run(Q))).all()
            assert (program.run(Q, "short")[1] == model.scores(scale.run(short))).all()


def test_it_may_be_in_a_chain_twice(scale: IntegerStage) -> None:
    model = model_behind()
    Q = random_inputs(1, 60, model)
    twice = [kernels_of(stage, UNO_CORE)[0] for stage in (scale, scale, *model.stages)]
    plan = plan_with(twice)
    assert "scale_2_scale(" in render_c(model, plan)["pnn_model.c"]
    assert list(plan.choices)[1:4] == ["scale", "scale_2", "projection"]
    assert [step.name for step in plan.steps][:3] == ["scale", "scale_2", "projection"]
    with host_program(model, plan, sanitize=True) as program:
        assert (program.run(Q)[1] == model.scores(scale.run(scale.run(Q)))).all()


def cycles_of(call: str, point: np.ndarray, compiled: Path) -> int:
    text = MARKED.replace("POINT", ", ".join(map(str, point))).replace("CALL", call)
    return marked_cycles(link_with(compiled, text))


@needs_emulated_avr
def test_its_cycles_are_at_most_about_those_of_the_plan(
    scale: IntegerStage, tmp_path: Path
) -> None:
    model = model_behind()
    for plan in plans_of(scale, model):
        compiled = compile_model(model, tmp_path, plan)
        for point in random_inputs(2, 3, model):
            cycles = cycles_of("pnn_predict(features)", point, compiled)
            assert 0 < cycles <= 1.1 * plan.cycles, plan.kernel  # if no input is 0


@needs_emulated_avr
def test_its_variables_take_the_bytes_of_the_plan(scale: IntegerStage, tmp_path: Path) -> None:
    model = model_behind()
    program = '#include "pnn_model.h"\nint main(void) { return 0; }\n'
    for plan in plans_of(scale, model):
        linked = read_program(compile_with(model, program, tmp_path, plan=plan)).sections
        assert linked.sram_bytes == plan.state_bytes
