"""The bound of an image that is cropped grows with the rows whose other pixels are skipped.

The code that skips them takes some 40 cycles a row, which no constant contained: with 31 rows, a
forest behind averages took 9,084 cycles where 8,601 was the bound.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from measured_predictions import build_program, measure
from model_factory import random_pooling_model

from protonn_edge.codegen import make_plan
from protonn_edge.features.average_pooling.integers import AveragePooling
from protonn_edge.quantization import quantize


def cycles_and_bound(pooling: AveragePooling, folder: Path) -> tuple[int, int]:
    model = quantize(random_pooling_model(pooling, projections=3, prototypes=4))
    plan = make_plan(model)
    black = np.zeros((1, model.n_features), np.uint8)
    measured = measure(build_program(model, plan, folder), model, black)
    return int(measured.cycles.max()), plan.worst_cycles


@needs_emulated_avr
@pytest.mark.parametrize(
    ("image", "crop", "shape"),
    [((35, 12), (31, 6), (7, 2)), ((44, 12), (40, 8), (20, 4))],
    ids=["rows in parts", "whole rows"],
)
def test_skipping_is_within_the_bound(
    image: tuple[int, int], crop: tuple[int, int], shape: tuple[int, int], tmp_path: Path
) -> None:
    cropped = cycles_and_bound(AveragePooling(image, crop, shape), tmp_path)
    whole = cycles_and_bound(AveragePooling(crop, crop, shape), tmp_path)
    assert cropped[0] - whole[0] <= cropped[1] - whole[1]
