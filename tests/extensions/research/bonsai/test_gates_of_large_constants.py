"""A gate of a tree that is large for every input is still 1 on the chip, and not -1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import EMULATED_AVR, skip_without
from chains import replace
from extensions.research.bonsai_factory import random_kernel_model, tiny_kernel_chain
from measured_predictions import build_program, measure
from model_factory import random_inputs
from refusals import refused_by

from protonn_edge.codegen.planner import make_plan
from protonn_edge.model.quantization import quantize

HIGHEST = 32_767 - 128  # of a shifted gate: half a table is added to it, in 16 bits


@pytest.mark.parametrize("constant", [5_000.0, -5_000.0])
def test_a_gate_that_no_input_changes(tmp_path: Path, constant: float) -> None:
    skip_without(*EMULATED_AVR)
    model = random_kernel_model(depth=0, classes=2)
    gates = np.zeros_like(model.head.gates)
    gates[:, -1] = constant
    chain = quantize(replace(model, gates=gates))
    assert abs(chain.own_stages[-1].gates.bias).min() > 8_000_000
    Q = random_inputs(0, 8, chain)
    measured = measure(build_program(chain, make_plan(chain), tmp_path), chain, Q)
    assert measured.scores.tolist() == chain.scores(Q).tolist()


def test_the_largest_gate_fits_the_walk() -> None:
    chain = tiny_kernel_chain()
    zeros, most = np.zeros((9, 6), np.int8), np.full(9, (HIGHEST << 7) + 127)
    replace(chain, gates=zeros, gate_bias=most)
    with refused_by("model.integer_stage"):
        replace(chain, gates=zeros, gate_bias=most + 1)
