"""The decision in integers: the first class with the largest score, or the answer of the policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from protonn_edge.model.integer_stage import IntArray, IntegerStage, Range
from protonn_edge.model.policy import IntegerPolicy
from protonn_edge.model.watch import AnswerWatch
from protonn_edge.system.arrays import Array

_NEAR = 255


@dataclass(frozen=True, eq=False)
class IntegerDecision(IntegerStage):
    """Maps the scores of L classes to an answer."""

    kind: ClassVar[str] = "decision"

    scores: Range  # the range of the L scores
    policy: IntegerPolicy = field(default_factory=IntegerPolicy)
    expected: AnswerWatch | None = None  # what watches the answers

    @property
    def n_inputs(self) -> int:
        """L."""
        return len(self.scores.low)

    @property
    def output(self) -> Range:
        """The classes, and other answers of the policy."""
        largest = max(self.n_inputs - 1, *(each.code for each in self.policy.other_answers), 0)
        return Range(np.zeros(1, np.int64), np.array([largest]))

    def run(self, x: Array) -> IntArray:
        """Return the answers (n, 1) to scores (n, L), as if each point were near a known one."""
        return self.policy.answers(x, np.full(len(x), _NEAR))[:, None]
