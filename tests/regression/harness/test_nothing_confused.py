"""Where a matrix is too wide for a terminal and every answer is right, no empty table is shown."""

from __future__ import annotations

import numpy as np

from protonn_edge.evaluation.terminal import confusion_parts


def test_that_nothing_was_confused_is_a_sentence() -> None:
    names = [f"quite a long name {k}" for k in range(12)]
    assert confusion_parts(np.diag(np.full(12, 180)), names) == (
        "no class was confused with another",
    )
