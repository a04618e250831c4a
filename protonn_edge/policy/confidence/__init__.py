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
        """Return the factor by which scores of training points fit their classes best."""
        from protonn_edge.learn.calibration import fitted_sharpness
        from protonn_edge.policy.confidence.rule import Sharpness
        from protonn_edge.system.rounding import one_thread

        with one_thread():  # reproducible
            scores = classifier.model_.scores(points)[:, : len(classifier.classes_)]
            sharpness = fitted_sharpness(scores, targets, certain=False)
        return Sharpness(min(sharpness, 1.0) if classifier.scores_are_logits else sharpness)


KIND = ConfidenceKind()
