"""Features of windows that the training points choose: ``auto``.

The points are divided into folds, whole groups if they have any, and a linear discriminant with a
shrunken covariance (for numbers, a ridge regression) judges each list of features: it is cheap, and
chooses as well as a forest or ProtoNN does. The list with the fewest errors is taken or, among many
points, of the lists within half a standard error of it the one with the fewest features.

Features that are learned are learned again in each fold, without the tested points. They take more
of a device than a list, so a list without an error stays, and among few points they must be better
by half a standard error. They are learned for weighted sums, so trees do not compare them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.features import AUTO, FeatureData, texts_for
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.learn.input_space import count_inputs
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import (
    Float32,
    Indices,
    Points,
    distinct_points,
    sample_with_all_classes,
)
from protonn_edge.learn.refusals import is_refused
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.system.figures import percent
from protonn_edge.system.rounding import one_thread

_LEAST_POINTS = 50  # fewer choose worse than the mean of many data sets
_FEW_POINTS = 100  # of fewer, learned features need to be better by `_WITHIN`
_MANY_POINTS = 500  # from which on lists within `_WITHIN` are equal; fewer features cost accuracy
_MOST_POINTS = 2_000  # to compare
_MOST_FEATURES = 1_024  # more do not fit an Uno, nor a quick comparison
_FOLDS = 5
_WITHIN = 0.5  # standard errors


@dataclass(frozen=True)
class FoundFeatures:
    """The list of features that was chosen, with the mean errors by which it was."""

    text: str
    errors: dict[str, float]  # of each list; empty if none was judged
    n: int  # windows that were judged
    in_groups: bool  # whether these were divided by groups
    are_classes: bool  # whether errors are shares of wrong classes, otherwise of the variance

    def __str__(self) -> str:
        chose, by = f"features '{AUTO}' chose {self.text}", " by groups" * self.in_groups
        if not self.errors:
            return (
                f"{chose}, the usual list: cross-validation{by} can test {self.n:,} windows, and "
                f"needs {_LEAST_POINTS}"
            )
        others = (text for text in self.errors if text != self.text)
        next_best = min(others, key=self.errors.__getitem__)
        return (
            f"{chose}: {self._share(self.text)} by a linear model in cross-validation{by} of "
            f"{self.n:,} windows; {self._share(next_best)} with {next_best}"
        )

    def _share(self, text: str) -> str:
        """Return how good a list is, in words."""
        what = "correct" if self.are_classes else "of the variance explained"
        return f"{percent(1 - self.errors[text])} {what}"


def found_features(
    settings: SharedParameters,
    given: Points,
    labels: ClassLabels,
    seed: int,
) -> FoundFeatures:
    """Return the features of windows to train with.

    - `settings`: those of the training.
    - `given`: raw points, in their groups, if they have any, with targets that are `labels`.

    Raises `InputError` if the windows are too long for features.
    """
    are_classes = labels.are_classes
    every = texts_for(settings, given.X)
    texts = [text for text in every if _is_compared(settings.frozen(features=text))]
    points = distinct_points(given)
    rows = sample_with_all_classes(points.y, _MOST_POINTS, np.random.default_rng(seed))
    points = points.part(rows)
    parts = _parts(points, seed, is_class=are_classes) if labels.predicts != "labels" else []
    n = sum(len(tested) for _, tested in parts)
    in_groups = points.group is not None
    found = FoundFeatures((texts or every)[0], {}, n, in_groups, are_classes)
    if n < _LEAST_POINTS or len(texts) < 2:
        return found
    tested = np.concatenate([each for _, each in parts])
    weights = None if points.weight is None else points.weight[tested]
    errors: dict[str, float] = {}
    n_features: dict[str, int] = {}
    doubts: dict[str, float] = {}
    for text in texts:
        asked = settings.frozen(features=text)
        n_features[text] = count_inputs(asked, points.X)
        if n_features[text] <= _MOST_FEATURES:
            with one_thread():
                values = _values(asked, points, parts, seed)
                each = _errors(values, points, parts, is_class=are_classes)
            doubts[text] = _WITHIN * float(np.std(each)) / math.sqrt(n)
            errors[text] = float(np.average(each, weights=weights))
    lists = [text for text in errors if not _is_learned(settings.frozen(features=text))]
    best = min(lists, key=errors.__getitem__)
    wanted = errors[best] - (doubts[best] if n < _FEW_POINTS else 0)
    chosen = [text for text in errors if text not in lists and errors[text] <= wanted]
    if not chosen or not errors[best]:
        most = errors[best] + (doubts[best] if n >= _MANY_POINTS else 0)
        chosen = [text for text in lists if errors[text] <= most]
    return replace(found, text=min(chosen, key=n_features.__getitem__), errors=errors)


def _is_compared(settings: SharedParameters) -> bool:
    """Return whether a kind of classifier may take the features."""
    only_compares = math.isinf(settings.largest_normalized)  # values, as trees do
    request = TrainingRequest(settings=settings)
    return not (only_compares and _is_learned(settings)) and not is_refused(request)


def _is_learned(settings: SharedParameters) -> bool:
    """Return whether the features are learned from the targets."""
    return settings.asked is not None and settings.asked.learns_from_classes


def _values(
    settings: SharedParameters,
    points: Points,
    parts: Sequence[tuple[NDArray[np.bool_], Indices]],
    seed: int,
) -> Iterator[Float32]:
    """Yield the features of all points for each fold, without what its tested points teach."""

    def applied(data: FeatureData) -> Float32:
        stage = settings.features_for(data)
        assert stage is not None
        values: Float32 = stage.apply(points.X)
        return values

    if _is_learned(settings):
        for rows, _ in parts:
            some = points.part(rows)
            yield applied(FeatureData(some.X, some.weight, some.y, seed))
    else:
        yield from repeat(applied(FeatureData(points.X)), len(parts))


def _parts(points: Points, seed: int, *, is_class: bool) -> list[tuple[NDArray[np.bool_], Indices]]:
    """Return the points to learn from in each fold, (n,), and the indices of those to test.

    A class of fewer points than folds is left out, and so is one that only tested points have.
    """
    strata = points.y if is_class else np.zeros(len(points), np.int64)
    groups = np.arange(len(points)) if points.group is None else points.group
    n_folds = min(_FOLDS, len(np.unique(groups)))
    rows = np.flatnonzero(np.bincount(strata)[strata] >= n_folds)
    if n_folds < 2 or not len(rows):
        return []
    _, numbered = np.unique(strata[rows], return_inverse=True)
    of_group = None if points.group is None else groups[rows]
    folds = np.full(len(points), -1)
    folds[rows] = fold_numbers(numbered, n_folds, seed, of_group)
    parts = []
    for fold in range(n_folds):
        learned = (folds >= 0) & (folds != fold)
        known = np.unique(strata[learned])
        if len(known) > 1 or not is_class:
            parts.append((learned, np.flatnonzero((folds == fold) & np.isin(strata, known))))
    return parts


def _errors(
    values: Iterable[Float32],
    points: Points,
    parts: Sequence[tuple[NDArray[np.bool_], Indices]],
    *,
    is_class: bool,
) -> NDArray[np.float64]:
    """Return the error of each tested point by a linear model of features of the others.

    `values` has the features (n, k) of all points for each fold.

    It is 1 for a wrong class, or the square of the error of numbers in units of their variance.
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y = points.y.reshape(len(points))
    linear = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto") if is_class else RidgeCV()
    model, errors = make_pipeline(StandardScaler(), linear), []
    for F, (learned, tested) in zip(values, parts, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of features that are constant in a part
            answers = model.fit(F[learned], y[learned]).predict(F[tested])
        errors.append(answers != y[tested] if is_class else np.square(answers - y[tested]))
    return np.concatenate(errors) / (1.0 if is_class else float(np.var(y)))
