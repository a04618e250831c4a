"""What a training learns from: points prepared as its settings ask, and how a step moves them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from protonn_edge.learn.added_points import with_copies, with_strangers
from protonn_edge.learn.augmentation import ImageAugmentation
from protonn_edge.learn.given_points import digest_of
from protonn_edge.learn.input_space import InputSpace
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import Float32, Indices, Move, Points, distinct_points
from protonn_edge.learn.progress import EpochReport, Learned
from protonn_edge.model.head import Head
from protonn_edge.model.integer_stage import MOST_CLASSES
from protonn_edge.model.model import Model, with_units_of
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check

EPOCH_POINTS = 1_000  # at most, by which an epoch is judged
_MEASURED_POINTS = 10_000


def with_new_names(classes: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the names of classes, followed by unused names for `count` more classes."""
    names = (f"new {number}" for number in itertools.count(1))
    return (*classes, *itertools.islice((name for name in names if name not in classes), count))


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
class TrainingSet:
    """Points for a learner, and the parts of a model that they determine."""

    points: Points  # distinct, normalized, with copies and strangers after them
    raw: Float32  # (n, features): what the points were made of
    labels: ClassLabels  # what their targets are
    n_classes: int  # L
    space: InputSpace
    seed: int  # of all random choices
    n_given: int  # number of distinct points: those after them are copies or strangers
    n_known: int  # number of points of classes
    n_rows: int  # number of points before equal ones were merged
    data_sha256: str  # of all points but copies
    # what moves the points of each step, and the values with which that begins, if not the points'
    moves: tuple[Move, ...] = ()
    unmoved: Float32 | None = None
    test: Points | None = None  # normalized points that are used only in reports

    @classmethod
    def of(
        cls,
        settings: SharedParameters,
        given: Points,
        labels: ClassLabels,
        n_classes: int,
        *,
        seed: int,
        test: Points | None = None,
    ) -> Self:
        """Return the points of a training, as `settings` ask."""
        points = distinct_points(given)
        n_given = len(points)
        points = with_copies(settings, points, seed)
        n_known, start = len(points), settings.initial_model
        if start is not None:
            check_sizes((start.n_features, start.n_classes), points.X.shape[1], n_classes)
        raw = with_strangers(settings, points, n_classes, seed)
        space, values = InputSpace.of(settings, raw, labels, seed)
        limit = settings.largest_normalized
        if test is not None:
            test = replace(test, X=space.normalized(space.values(test.X), limit))
        made = cls(
            points=replace(raw, X=space.normalized(values, limit)),
            raw=raw.X,
            labels=labels,
            n_classes=n_classes,
            space=space,
            seed=seed,
            n_given=n_given,
            n_known=n_known,
            n_rows=len(given) if given.weight is None else int(np.count_nonzero(given.weight)),
            data_sha256=digest_of(given, labels.digested),
            test=test,
        )
        return made._moved(settings, values)

    def _moved(self, settings: SharedParameters, values: Float32) -> Self:
        """Return the same points, whose values are these, with what moves those of a step."""
        space, share, asked = self.space, float(settings.augment), settings.asked
        moves: list[Move] = []
        unmoved = None
        if share and settings.image_shape is not None:
            moves = [
                ImageAugmentation(self.raw, settings.image_shape, share),
                lambda X, *_: space.of_step(space.values(X)),
            ]
            unmoved = self.raw
        elif share and asked is not None and (of_values := asked.augmentation(share)) is not None:
            moves = [of_values, lambda X, *_: space.of_step(X)]
            unmoved = values
        if self.points.group is not None:
            of_groups = settings.move_of_groups(self.points)
            moves += [] if of_groups is None else [of_groups]
        return replace(self, moves=tuple(moves), unmoved=unmoved)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def for_device(self) -> bool:
        """Whether what is learned can be converted to integers, which training then considers."""
        return self.n_classes <= MOST_CLASSES and self.space.normalizer.kind != "l2"

    @property
    def has_strangers(self) -> bool:
        """Whether some points are of no class."""
        return self.n_known < len(self.points)

    @cached_property
    def _one_hot(self) -> Float32:
        return np.eye(self.n_classes + 1, self.n_classes, dtype=np.float32)

    def targets(self, rows: Any = slice(None)) -> Float32:
        """Return targets (n, L) of some points: 1 at the class or labels, else 0; or numbers."""
        y = self.points.y[rows]
        targets: Float32 = y if y.ndim == 2 else self._one_hot[y]
        return targets

    def moved(self, rows: Indices, generator: np.random.Generator) -> Float32:
        """Return the points of a step (n, D), a copy, moved."""
        X: Float32 = (self.points.X if self.unmoved is None else self.unmoved)[rows]
        for move in self.moves:
            X = move(X, rows, generator)
        return X

    @cached_property
    def measured(self) -> Points:
        """Evenly spaced points of classes, for measurements."""
        return self.points.part(slice(self.n_known)).some(_MEASURED_POINTS)

    def qualities(
        self, scores: Callable[[Any], Array], most: int = EPOCH_POINTS
    ) -> tuple[float, float | None]:
        """Return the quality (see `ClassLabels`) of scores on training and test points.

        It is measured on at most this number of either, by default that which judges an epoch.
        """

        def quality(points: Points) -> float:
            some = points.some(most)
            return float(self.labels.quality(scores(some.X), some.y))

        return quality(self.measured), None if self.test is None else quality(self.test)

    def report(self, head: Head, loss: float) -> EpochReport:
        """Return the only report of a training without epochs."""
        return EpochReport(1, 1, loss, *self.qualities(head.scores, _MEASURED_POINTS))

    def logistic_report(self, head: Head, penalty: float = 0.0) -> EpochReport:
        """Return the same with the mean logistic loss of all points, and a penalty."""
        points = self.points
        scores = head.scores(points.X)
        differences = scores - scores[np.arange(len(points)), points.y][:, None]
        losses = np.logaddexp.reduce(differences, axis=1)
        return self.report(head, float(np.average(losses, weights=points.weight)) + penalty)

    def part(self, rows: Any) -> Self:
        """Return some of the points, none of which is moved, a copy or a stranger."""
        points = self.points.part(rows)
        n = len(points)
        return replace(self, points=points, raw=self.raw[rows], n_given=n, n_known=n)

    @property
    def given(self) -> Points:
        """The distinct raw points, without copies and strangers."""
        return replace(self.points, X=self.raw).part(slice(self.n_given))

    def model_of(
        self, learned: Learned, classes: Iterable[str], feature_names: Iterable[str] = ()
    ) -> Model:
        """Return the model of what was learned, with what its policy measures on the points."""
        names, given = tuple(classes), self.given
        model = Model(
            head=learned.head,
            classes=with_new_names(names, learned.head.n_classes - len(names)),
            feature_names=tuple(feature_names),
            normalizer=self.space.normalizer,
            inputs=learned.inputs or self.space.inputs,
            features=self.space.stage,
            clipped=self.space.ends is not None,
            policy=self.labels.policy,
        )
        measured: Model = self.labels.measured(with_units_of(model, given.X), given, self.seed)
        return measured
