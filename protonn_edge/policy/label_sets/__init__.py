"""Sets of labels: a model that ranks its labels, and answers with those above a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from protonn_edge.model.rule_kinds import RuleKind
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from protonn_edge.cli.command import Output
    from protonn_edge.data.points.dataset import Dataset
    from protonn_edge.model.model import Model
    from protonn_edge.policy.label_sets.rule import LabelSets
    from protonn_edge.policy.label_sets.train import SetsOfLabels
    from protonn_edge.report.content import SectionOfRun


class LabelSetsKind(RuleKind):
    """The threshold of labels."""

    name: ClassVar[str] = "label_sets"
    array: ClassVar[str] = "threshold"
    keys: ClassVar[tuple[str, ...]] = ("threshold",)

    def rule(self) -> type[LabelSets]:
        """Return the rule."""
        from protonn_edge.policy.label_sets.rule import LabelSets

        return LabelSets

    def labels_of(self, y: ArrayLike | None) -> SetsOfLabels | None:
        """Recognize sets of labels; a plain array of labels has none."""
        kind = getattr(getattr(y, "dtype", None), "kind", "O")
        if kind != "O" and getattr(y, "ndim", 0) == 1:
            return None
        from protonn_edge.policy.label_sets.targets import are_label_sets

        if not are_label_sets(y):
            return None
        from protonn_edge.policy.label_sets.train import SetsOfLabels

        return SetsOfLabels()

    def describe(self, model: Model, dataset: Dataset, out: Output) -> JsonObject:
        """Return how well a trained model ranks labels."""
        from protonn_edge.policy.label_sets.steps import describe

        return describe(model, dataset, out)

    def answer_sections(self) -> tuple[SectionOfRun, ...]:
        """Return the section about labels."""
        from protonn_edge.policy.label_sets.report import ANSWERS

        return ANSWERS


KIND = LabelSetsKind()
