"""What pnn_begin takes: the check of the time without interrupts counts on a bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import needs_emulated_avr
from generated_programs import compile_with, marked_cycles
from model_factory import (
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
)

from protonn_edge.codegen import Limits, every_plan
from protonn_edge.features.average_pooling.integers import AveragePooling
from protonn_edge.features.deskew.integers import BYTES
from protonn_edge.precision.program import plan_for
from protonn_edge.quantization import device_model

pytestmark = needs_emulated_avr

BEGIN = """
#include <avr/io.h>
#include "pnn_model.h"
int main(void)
{
    GPIOR0 = 1;
    pnn_begin();
    GPIOR0 = 0;
    for (;;) {
    }
}
"""
MODELS = {
    "one output": (random_model(projections=1), "int8"),
    "many outputs": (random_model(projections=40), "int8"),
    "wide sums": (random_model(features=100, projections=20, gamma_numerator=25.0), "int8"),
    "image": (random_pooling_model(AveragePooling((28, 28), (24, 24), (12, 12))), "int8"),
    "upright image": (
        random_pooling_model(AveragePooling((20, 20), (20, 20), (10, 10), BYTES)),
        "int8",
    ),
    "windows": (random_window_model(window_features_of("mean,max,bands:2")), "int8"),
    "wide image": (random_pooling_model(AveragePooling((40, 200), (40, 200), (8, 100))), "int8"),
    "floats": (random_model(), "float32"),
}


@pytest.mark.parametrize("name", MODELS)
def test_beginning_stays_within_its_bound(tmp_path: Path, name: str) -> None:
    model = device_model(*MODELS[name])
    if model.score_tolerance:
        taken = marked_cycles(compile_with(model, BEGIN, tmp_path))
        assert 0 < taken <= plan_for(model).begin_cycles
        return
    fitting = [p for p in every_plan(model) if p.flash_bytes <= Limits().flash_bytes]
    for number, plan in enumerate(fitting):
        folder = tmp_path / str(number)
        folder.mkdir()
        taken = marked_cycles(compile_with(model, BEGIN, folder, plan=plan))
        assert 0 < taken <= plan.begin_cycles
