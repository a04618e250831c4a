"""Copying inputs into a buffer took longer than its bound.

The compiler's loop takes 8 to 13 cycles a value, depending on the code around it, and the plan had
10: three trees behind 400 averages took 41,687 cycles where 41,581 was the bound.
"""

from __future__ import annotations

from pathlib import Path

import forest_factory
import numpy as np
from avr_tools import needs_emulated_avr
from chains import replace
from measured_predictions import build_program, measure

from protonn_edge.avr.cores import UNO_CORE
from protonn_edge.chain.input_quantizer import InputQuantizer
from protonn_edge.codegen import every_plan
from protonn_edge.features.average_pooling.integers import AveragePooling


@needs_emulated_avr
def test_a_forest_behind_averages_keeps_to_its_bound(tmp_path: Path) -> None:
    forest = forest_factory.random_chain(0, trees=3, features=400, depth=2, classes=2)
    averages = InputQuantizer(np.zeros(400), np.ones(400), 255)
    pooling = AveragePooling((26, 31), (22, 25), (20, 20))
    model = replace(forest, inputs=averages, feature_stage=pooling)
    wanted = {"feeding": "held", "forest": "walk"}
    plan = next(
        each for each in every_plan(model, UNO_CORE) if wanted.items() <= each.choices.items()
    )
    bright = np.random.default_rng(0).integers(200, 256, (8, 806)).astype(np.uint8)
    measured = measure(build_program(model, plan, tmp_path), model, bright)
    assert measured.cycles.max() <= plan.worst_cycles
