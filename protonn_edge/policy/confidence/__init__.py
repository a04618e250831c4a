"""Confidence: the probability of the answer, from the softmax of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from protonn_edge.model.rule_kinds import RuleKind

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from protonn_edge.learn.learner import Learner
    from protonn_edge.policy.confidence.rule import Sharpness
    from protonn_edge.system.arrays import Array


class ConfidenceKind(RuleKind):
    """The factor on scores before their softmax, which every training fits."""

    name: ClassVar[str] = "confidence"
    array: ClassVar[str] = "sharpness"

    def rule(self) -> type[Sharpness]:
        """Return the rule."""
        from protonn_edge.policy.confidence.rule import Sharpness

        return Sharpness

    def fitted(self, classifier: Learner, points: ArrayLike, targets: Array) -> Sharpness:
        """Return the rule for a classifier."""
        from protonn_edge.policy.confidence.train import fitted

        return fitted(classifier, points, targets)


KIND = ConfidenceKind()
