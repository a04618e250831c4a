"""On a chip whose calls take longer, the bound has the calls that each row makes."""

from __future__ import annotations

import pytest
from convolution_factory import random_convolution, random_model

from protonn_edge.boards import load_board
from protonn_edge.codegen import Limits, make_plan
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.quantization import quantize

ROWS = 24
FUNCTIONS = 4  # in C: to get a row's place, take it, work on it, and make a row of the output


@pytest.mark.parametrize(
    "stage",
    [
        IntegerPooling((ROWS, 4, 1), (2, 2), "maximum", 255),
        IntegerPooling((ROWS, 4, 1), (2, 2), "average", 255),
        random_convolution(0, (ROWS, 4, 1), 2),
    ],
    ids=["maximum", "average", "convolution"],
)
def test_every_row_has_its_calls(stage: IntegerPooling) -> None:
    model = quantize(random_model(layered((stage,))))
    boards = [load_board(name) for name in ("uno", "mega2560")]
    uno, mega = (make_plan(model, Limits.of(board)).steps[0].worst for board in boards)
    assert uno is not None
    assert mega is not None
    assert mega - uno >= ROWS * FUNCTIONS * boards[1].cpu.call_cycles
