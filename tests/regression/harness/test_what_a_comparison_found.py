"""What a comparison found names the executions that are equal, or the one that differs.

For a model all of whose 450 points differed on the emulated Uno, a table said "compared NumPy =
host C = emulated uno".
"""

from __future__ import annotations

import pytest

from protonn_edge.verification.agreement import Agreement, Mismatch, outcome

SAME = Agreement("host C", 450, 0, 0, None)
OTHER = Agreement("emulated uno", 450, 449, 1, Mismatch(0, "score of class 0", -4609, -3035))


@pytest.mark.parametrize(
    ("agreements", "printed"),
    [
        ([SAME], "NumPy = host C"),
        ([SAME, OTHER], "emulated uno differs at 450 of 450 points"),
        ([], "NumPy alone"),
    ],
)
def test_an_execution_that_differs_is_named(agreements: list[Agreement], printed: str) -> None:
    assert outcome(agreements) == printed


def test_scores_with_a_tolerance_are_not_called_equal() -> None:
    assert outcome([SAME], tolerance=256) == "NumPy ~ host C"
