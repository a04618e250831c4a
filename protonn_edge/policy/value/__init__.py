"""A number in place of a class: the only score of a model stands for it; see `docs/values.md`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.model.rule_kinds import RuleKind
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.cli.command import Output
    from protonn_edge.data.naming import Notice
    from protonn_edge.data.points.dataset import Dataset
    from protonn_edge.learn.search.limits import Metric
    from protonn_edge.model.model import Model
    from protonn_edge.policy.value.rule import Value
    from protonn_edge.report.content import SectionOfRun


class ValueKind(RuleKind):
    """The scale of numbers."""

    name: ClassVar[str] = "value"
    array: ClassVar[str] = "value"
    keys: ClassVar[tuple[str, ...]] = ("value",)
    options: ClassVar[Mapping[str, str]] = {
        "train": "TrainingOptions",
        "tune": "ValueOptions",
        "windows": "WindowsOptions",
    }

    def rule(self) -> type[Value]:
        """Return the rule."""
        from protonn_edge.policy.value.rule import Value

        return Value

    def metric_for(self, dataset: Dataset, asked: str) -> Metric | None:
        """Return R2 for numbers."""
        from protonn_edge.policy.value.tuning import metric_for

        return metric_for(dataset, asked)

    def describe(self, model: Model, dataset: Dataset, out: Output) -> JsonObject:
        """Return how well a trained model predicts numbers."""
        from protonn_edge.policy.value.steps import describe

        return describe(model, dataset, out)

    def unlearned(self, model: Model, dataset: Dataset, remedy: str) -> list[Notice]:
        """Return a warning if a model is no better than the mean."""
        from protonn_edge.policy.value.steps import unlearned

        return unlearned(model, dataset, remedy)

    def answer_sections(self) -> tuple[SectionOfRun, ...]:
        """Return the section about errors."""
        from protonn_edge.policy.value.report import ANSWERS

        return ANSWERS


KIND = ValueKind()
