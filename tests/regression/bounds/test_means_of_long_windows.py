"""A scale that never shifts, in a program that quantizes no raw values, has a bound of its loop."""

from __future__ import annotations

from pathlib import Path

from avr_tools import needs_avr_gcc
from measured_predictions import bounds_of, build_program
from model_factory import random_window_model, window_features_of

from protonn_edge.codegen.planner import Limits, plans
from protonn_edge.quantization import quantize


@needs_avr_gcc
def test_the_mean_of_a_long_window_has_a_bound(tmp_path: Path) -> None:
    chain = quantize(random_window_model(window_features_of("mean", 255, 1), 1))
    plan = plans(chain, Limits())[0]
    paths = bounds_of(build_program(chain, plan, tmp_path), plan)
    assert 0 < paths.shortest.cycles < paths.longest.cycles
