"""The float form of a cascade: two models of the same points, and when the second one answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from protonn_edge.model.checks import Float64
from protonn_edge.model.features import Features
from protonn_edge.model.head import SETTING, Head, Remedies, Size
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range

PARTS = ("first", "second")
"""The names of the two models in plans and in generated C."""


@dataclass(frozen=True, eq=False)
class CascadePart:
    """One of the two models: what a `Model` computes with.

    With features of its own, it computes these from the bytes of raw points; otherwise, its inputs
    are those of the cascade.
    """

    ended_fields: ClassVar[tuple[str, ...]] = ("activity",)

    head: Head
    normalizer: Normalizer
    inputs: InputStatistics
    features: Features | None
    clipped: bool

    @classmethod
    def of(cls, model: Model) -> Self:
        """Return what a model computes with."""
        return cls(model.head, model.normalizer, model.inputs, model.features, model.clipped)

    @cached_property
    def model(self) -> Model:
        """A model of its own, with other names."""
        classes = tuple(f"class {number}" for number in range(self.head.n_classes))
        return Model(
            head=self.head,
            normalizer=self.normalizer,
            inputs=self.inputs,
            features=self.features,
            clipped=self.clipped,
            classes=classes,
        )

    @property
    def n_given(self) -> int:
        """Number of values that it is given."""
        return self.model.n_features

    def in_bytes(self, quantizer: InputQuantizer) -> CascadePart:
        """Return the part without features as a part of the bytes that a quantizer makes."""
        zero, step = quantizer.zero, quantizer.step.astype(np.float64)
        zeros = np.zeros_like(zero)
        known, normalizer = self.inputs, self.normalizer
        statistics = InputStatistics(
            lower=zeros,
            upper=zeros + quantizer.maximum,
            mean=(known.mean - zero) / step,
            deviation=known.deviation / np.abs(step),
            background=zeros,
            whole=True,
        )
        folded = Normalizer("standard", (normalizer.offset - zero) / step, normalizer.scale * step)
        return replace(self, inputs=statistics, normalizer=folded, clipped=True)

    def scores(self, X: Array) -> Float64:
        """Return the scores (n, L) of the cascade's inputs X (n, D)."""
        if self.features is not None:
            X = run_through(self.features.stages, X.astype(np.uint8)).astype(np.float64)
        if self.clipped:
            X = np.clip(X, self.inputs.lower, self.inputs.upper)
        return self.head.scores(self.normalizer.apply(X))


@dataclass(frozen=True, eq=False)
class CascadeHead(Head):
    """A cascade: where the first model's two best scores are near, the second model answers.

    The scores of the second model, times `scale`, are in the first model's unit; they replace the
    first model's scores or, if the cascade `adds`, are added to them.

    Raises `InputError` if the models have different inputs or classes.
    """

    kind: ClassVar[str] = "cascade"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("a smaller second model", "a smaller first model"),
        sram="a second model with fewer variables",
        cycles="a faster first model",
        accuracy="--clip for both models",
    )

    first: CascadePart
    second: CascadePart
    # of the two best scores, below which the second model answers
    margin: float = field(metadata=SETTING)
    scale: float
    adds: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        first, second = self.first, self.second
        again = "join two models of the same data"
        for name, one, other in (
            ("inputs", first.n_given, second.n_given),
            ("classes", first.head.n_classes, second.head.n_classes),
        ):
            check(one == other, f"the second model's {name}", f"{other:,}", f"{one:,}", again)
        for name, part in zip(PARTS, (first, second), strict=True):
            is_alone = not isinstance(part.head, CascadeHead)
            check(is_alone, f"the {name} model", "a cascade", "another kind")
        check_range("classes of a cascade", first.head.n_classes, 2, 255)
        check_range("the cascade's margin", self.margin, 0, float(np.finfo(np.float32).max))
        check_range("the cascade's scale", self.scale, 1e-30, 1e30)

    @property
    def n_inputs(self) -> int:
        """D, the number of values that both models are given."""
        return self.first.n_given

    @property
    def n_classes(self) -> int:
        """L."""
        return self.first.head.n_classes

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes of both models."""
        parts = zip(PARTS, (self.first, self.second), strict=True)
        return tuple(
            size._replace(name=f"{name} model's {size.name}")
            for name, part in parts
            for size in part.head.sizes
        )

    @property
    def values_a_point(self) -> int:
        """Values per point."""
        return sum(part.head.values_a_point + part.n_given for part in (self.first, self.second))

    def scores(self, X: Array) -> Float64:
        """Return the scores (n, L) of inputs X (n, D), which are not normalized."""
        scores = self.first.scores(X)
        unsure = margins(scores) < self.margin
        if unsure.any():
            others = self.scale * self.second.scores(X[unsure])
            scores[unsure] = scores[unsure] + others if self.adds else others
        return scores


def margins(scores: Array) -> Array:
    """Return by how much the largest of each point's scores (n, L) exceeds the second largest."""
    ordered = np.partition(scores, -2, axis=1)
    lead: Array = ordered[:, -1] - ordered[:, -2]
    return lead
