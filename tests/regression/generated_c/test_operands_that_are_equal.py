"""A hidden layer with as many units as its multiplier gives the same scores on the device.

The compiler put both numbers into one register. The loop over the units counts one of them down, so
each unit was multiplied by less than the one before, and every score was wrong.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from dense_factory import random_chain
from measured_predictions import build_program, measure
from model_factory import random_inputs

from protonn_edge.codegen import make_plan


@needs_emulated_avr
@pytest.mark.parametrize("layers", [(24,), (9, 9)])
def test_as_many_units_as_the_multiplier(layers: tuple[int, ...], tmp_path: Path) -> None:
    bits, largest = (16, 24, 24)[-len(layers) - 1 :], (12, 60, 60)[: len(layers) + 1]
    model = random_chain(3, hidden=layers, bits=bits, largest=largest, multipliers=layers)
    Q = random_inputs(4, 5, model)
    measured = measure(build_program(model, make_plan(model), tmp_path), model, Q)
    np.testing.assert_array_equal(measured.scores, model.scores(Q))
