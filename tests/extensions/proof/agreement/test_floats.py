"""The conversion of floats gives the same with its filter in assembly and with operations alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
from avr_tools import needs_avr_gcc
from extensions.proof.agreement.agreement import compare
from extensions.proof.agreement.call import Call
from extensions.proof.agreement.linked import linked_forms
from generated_programs import write_c
from model_factory import random_model

from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.quantization import quantize

RANGES = [(0, 1), (0, 255), (-1, 1), (15, 30), (980, 1040), (7.9, 4.3), (-5, -900), (-1e-36, 1e-36)]
LANES = 400


@needs_avr_gcc
def test_the_filter_in_assembly_gives_what_the_operations_give(tmp_path: Path) -> None:
    rng, (low, high) = np.random.default_rng(4), np.array(RANGES, np.float64).T
    chain = quantize(random_model(features=len(RANGES)))
    inputs = InputQuantizer(low, (high - low) / chain.inputs.maximum, chain.inputs.maximum)
    write_c(dataclasses.replace(chain, inputs=inputs), tmp_path)
    forms = linked_forms((tmp_path / "pnn_model.c").read_text("utf-8"), tmp_path)
    first = forms.assembly.functions["float_filter"]
    own = range(first, first + forms.assembly.sizes["float_filter"])
    executed = set[int]()
    for feature in range(len(RANGES)):
        steps = rng.integers(-3, 259, LANES) + rng.choice([0.5, 0.2], LANES)
        near = (inputs.zero[feature] + inputs.step[feature] * steps).astype("<f4").view("<u4")
        near = near + rng.integers(-300, 300, LANES, dtype=np.int64)
        near[::10] = 1 << 31  # -0, of which a scale without a filter must not think
        points = {"raw": near.astype("<u4").view(np.uint8).reshape(LANES, 4).astype(int)}
        call = Call(
            "pnn_quantize_float",
            [(feature, 2), ("raw", 4)],
            returns=1,
            ranges={("raw", 0, 4): (0, (1 << 32) - 1)},
            points=points,
        )
        executed |= compare(forms, call, LANES).executed
    assert len(executed & {*own}) > 0.9 * len(own) / 2
