"""Prepare points for training: what changes or moves them, in its order, and what it measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from protonn_edge.learn.answers import with_new_names
from protonn_edge.learn.augmentation import ImageAugmentation
from protonn_edge.learn.given_points import digest_of
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import (
    Float32,
    InputSpace,
    Points,
    Targets,
    Transform,
    distinct_points,
    fitted,
)
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.transforms import (
    Clip,
    Copies,
    FeatureStages,
    Normalize,
    Strangers,
)
from protonn_edge.model.model import Model, with_units_of
from protonn_edge.system.checks import check

_CALIBRATION_POINTS = 10_000
_VALUES = 4_000_000  # values of these points, unless they are the fewest possible


def check_sizes(sizes: tuple[int, int], n_features: int, n_classes: int) -> None:
    """Refuse a model with other numbers of features or classes than the data."""
    for size, wanted, name in (
        (sizes[0], n_features, "features"),
        (sizes[1], n_classes, "classes"),
    ):
        check(
            size == wanted,
            "the given model",
            f"{size:,} {name}",
            f"{wanted:,}, as in the data",
            "give a model and data that match",
        )


@dataclass(frozen=True, eq=False)
class PreparedPoints:
    """Points for a learner, and the parts of a model that they determine."""

    points: Points  # distinct, normalized, with copies and strangers after them
    making: tuple[Transform, ...]  # what made normalized points of raw ones
    n_given: int  # number of distinct points: those after them are copies or strangers
    n_known: int  # number of points of classes
    clipped: bool
    seed: int
    data_sha256: str  # of all points but copies

    @classmethod
    def of(
        cls, settings: SharedParameters, given: Points, *, seed: int, test: Points | None = None
    ) -> Self:
        """Return the points of a training, as `settings` ask."""
        points = distinct_points(given)
        n_given, start = len(points), settings.initial_model
        adding: list[Transform] = [Copies(settings)] if settings.copies else []
        points = fitted(adding, points, seed)
        n_known = len(points)
        if start is not None:
            sizes = start.n_features, start.n_classes
            check_sizes(sizes, points.X.shape[1], points.n_classes)
        share = float(settings.strangers)
        raw = fitted([Strangers(share, settings.image_shape)] if share else [], points, seed)
        stages, clip = FeatureStages(settings, seed), Clip(settings)
        normalize = Normalize(settings, stages)
        making: tuple[Transform, ...] = (stages, clip, normalize)
        in_groups = settings.moves_of_groups() if points.group is not None else ()
        before, after = _augmentation(settings)
        made = fitted((*before, stages, clip, *after, normalize, *in_groups), raw, seed)
        made = replace(
            made,
            raw=raw.X,
            n_rows=len(given) if given.weight is None else int(np.count_nonzero(given.weight)),
            space=InputSpace(normalize.normalizer, normalize.inputs, stages.stage),
            test=None if test is None else _made(making, test),
        )
        digest = digest_of(given)
        return cls(made, making, n_given, n_known, clip.ends is not None, seed, digest)

    @property
    def raw(self) -> Any:
        """All raw points (n, features)."""
        assert self.points.raw is not None
        return self.points.raw

    @property
    def given(self) -> Points:
        """The distinct raw points, without copies and strangers."""
        first = self.points.part(slice(self.n_given))
        return first.others(self.raw[: self.n_given], first.y, first.weight, first.group)

    @property
    def calibration(self) -> tuple[Float32, Targets]:
        """A limited number of raw training points, with classes, for measurements."""
        step = -(-self.n_given // _CALIBRATION_POINTS)
        return self.raw[: self.n_given : step], self.points.y[: self.n_given : step]

    @property
    def parts(self) -> dict[str, Any]:
        """The parts of a model that all kinds of classifiers share, by name."""
        space = self.points.space
        assert space is not None
        return {
            "normalizer": space.normalizer,
            "inputs": space.inputs,
            "features": space.stage,
            "clipped": self.clipped,
            "policy": self.points.labels.policy,
        }

    def model_of(
        self, learned: Learned, classes: Iterable[str], feature_names: Iterable[str] = ()
    ) -> Model:
        """Return the model of what was learned from the points."""
        head, parts = learned.head, self.parts
        if learned.inputs is not None:
            parts["inputs"] = learned.inputs
        names = tuple(classes)
        names = with_new_names(names, head.n_classes - len(names))
        return Model(head=head, classes=names, feature_names=tuple(feature_names), **parts)

    def measured(self, model: Model) -> Model:
        """Return a trained model with its units, and what its policy measures on the points."""
        model = with_units_of(model, self.raw[: self.n_given])
        measured: Model = self.points.labels.measured(model, self.points, self.seed)
        return measured


def _augmentation(settings: SharedParameters) -> tuple[Sequence[Transform], Sequence[Transform]]:
    """Return what moves the points of a step before and after their features are computed."""
    share, asked = float(settings.augment), settings.asked
    if not share:
        return (), ()
    if settings.image_shape is not None:
        return (ImageAugmentation(settings.image_shape, share),), ()
    moves = None if asked is None else asked.augmentation(share)
    return (), () if moves is None else (moves,)


def _made(making: Sequence[Transform], raw: Points) -> Points:
    """Return raw points made as the training points were."""
    for each in making:
        raw = each.apply(raw, np.random.default_rng(0))
    return raw
