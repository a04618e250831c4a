"""Features of windows that the training points choose: ``auto``.

The points are divided into folds, whole groups if they have any, and a linear discriminant with a
shrunken covariance (for numbers, a ridge regression) judges each list of features: it is cheap, and
chooses as well as a forest or ProtoNN does. Of the lists within half a standard error of the best,
the one with the fewest features is taken.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.features import AUTO, FeatureData, texts_for
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import (
    Float32,
    Indices,
    Points,
    distinct_points,
    sample_with_all_classes,
)
from protonn_edge.learn.refusal import Refusal, TrainingRequest
from protonn_edge.learn.refusals import refusal_of
from protonn_edge.system.figures import percent
from protonn_edge.system.rounding import one_thread

_LEAST_POINTS = 100  # fewer choose worse than the mean of many data sets
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
    refusals: Collection[Refusal] = (),
) -> FoundFeatures:
    """Return the features of windows to train with.

    - `settings`: those of the training, and `refusals` of its kind of classifier.
    - `given`: raw points, in their groups, if they have any, with targets that are `labels`.

    Raises `InputError` if the windows are too long for features.
    """
    are_classes = labels.are_classes
    every = texts_for(settings, given.X)
    texts = [
        text
        for text in every
        if refusal_of(TrainingRequest(settings=settings.frozen(features=text)), refusals) is None
    ]
    points = distinct_points(given)
    chosen = sample_with_all_classes(points.y, _MOST_POINTS, np.random.default_rng(seed))
    points = points.part(chosen)
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
    deviations: dict[str, float] = {}
    for text in texts:
        stage = settings.frozen(features=text).features_for(FeatureData(points.X))
        if stage is not None and stage.n_outputs <= _MOST_FEATURES:
            with one_thread():
                each = _errors(stage.apply(points.X), points, parts, is_class=are_classes)
            n_features[text], deviations[text] = stage.n_outputs, float(np.std(each))
            errors[text] = float(np.average(each, weights=weights))
    best = min(errors, key=errors.__getitem__)
    limit = errors[best] + _WITHIN * deviations[best] / math.sqrt(n)
    near = [text for text in errors if errors[text] <= limit]
    return replace(found, text=min(near, key=n_features.__getitem__), errors=errors)


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
    F: Float32,
    points: Points,
    parts: Sequence[tuple[NDArray[np.bool_], Indices]],
    *,
    is_class: bool,
) -> NDArray[np.float64]:
    """Return the error of each tested point by a linear model of features F (n, k) of the others.

    It is 1 for a wrong class, or the square of the error of numbers in units of their variance.
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y = points.y.reshape(len(points))
    linear = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto") if is_class else RidgeCV()
    model, errors = make_pipeline(StandardScaler(), linear), []
    for learned, tested in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of features that are constant in a part
            answers = model.fit(F[learned], y[learned]).predict(F[tested])
        errors.append(answers != y[tested] if is_class else np.square(answers - y[tested]))
    return np.concatenate(errors) / (1.0 if is_class else float(np.var(y)))
