"""`verify` and `hil` print what their comparisons found.

For a model all of whose 450 points differed on the emulated Uno, the table of what a sketch gets
said "compared NumPy = host C = emulated uno".
"""

from __future__ import annotations

import numpy as np
import pytest
from model_factory import random_model, random_points

from protonn_edge.boards import load_board
from protonn_edge.cli import hil
from protonn_edge.cli.command import Output
from protonn_edge.evaluation.library_check import LibraryCheck
from protonn_edge.quantization import quantize
from protonn_edge.verification.agreement import Agreement, Mismatch, outcome

SAME = Agreement("host C through pnn_quantize", 450, 0, 0, None)
OTHER = Agreement(
    "emulated uno through pnn_quantize", 450, 449, 1, Mismatch(0, "score of class 0", -4609, -3035)
)


@pytest.mark.parametrize(
    ("agreements", "printed"),
    [
        ((SAME,), "NumPy = host C"),
        ((SAME, OTHER), "emulated uno differs at 450 of 450 points"),
        ((), "NumPy alone"),
    ],
)
def test_the_table_of_a_sketch_names_the_execution_that_differs(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    agreements: tuple[Agreement, ...],
    printed: str,
) -> None:
    check = LibraryCheck(450, 0.95, 0.95, (), (), identity=True, agreements=agreements)
    monkeypatch.setattr(hil, "check_library", lambda *_: check)
    model = random_model()
    points = (random_points(0, 1, 12), np.zeros(1, np.int64))
    hil.library_check(
        Output(as_json=False), model, quantize(model), None, load_board("uno"), points
    )
    (row,) = (line for line in capsys.readouterr().out.splitlines() if " scores " in line)
    assert row.split(maxsplit=1)[1].strip() == printed


def test_scores_with_a_tolerance_are_not_called_equal() -> None:
    assert outcome([SAME], tolerance=256) == "NumPy ~ host C through pnn_quantize"
