"""A trained model of any kind: its features and its matrices.

The trainer creates a model, and the quantizer turns it into integers. A model is validated when it
is created, so code that uses it need not check it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.naming import check_names
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.model import raw_inputs
from protonn_edge.model.checks import checked_record, set_checked
from protonn_edge.model.expected_answers import ExpectedAnswers
from protonn_edge.model.features import Features
from protonn_edge.model.head import Head, Size, size_facts
from protonn_edge.model.nearness import NearestHead
from protonn_edge.model.policy import FloatPolicy
from protonn_edge.model.statistics import CHUNK_BYTES, InputStatistics, Normalizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.facts_repr import FactsRepr

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(FactsRepr):
    """A trained classifier of D inputs and L classes.

    Attributes
    ----------
    head : Head
        The classifier's matrices, which score normalized points.
    normalizer : Normalizer
        Maps raw or computed features to those that the matrices expect.
    inputs : InputStatistics
        Statistics of the normalizer's inputs in training.
    classes : tuple of str
        L display names, in the order of the scores: printable, distinct, at most `NAME_LIMIT` long.
    feature_names : tuple of str
        A display name for each feature of a point, or empty.
    record : mapping
        How the model was trained; JSON-compatible.
    features : Features, optional
        Computes features of raw points first, such as averages of pixels.
    clipped : bool
        Whether features are clamped to ``inputs.lower..inputs.upper``, as on a device. If so, they
        were clamped in training, too, and the limits may be narrower than the range of its points.
    policy : Policy, optional
        The answer that scores give; by default, the class with the highest one.
    raw_exponents : ndarray of int64, optional
        The power of ten by which a sketch multiplies each feature before rounding it to a 16-bit
        integer: (features,), one for each channel, or (1,) for all, as in `raw_ends`. If None, the
        range of the training data decides; see `units_of`.
    instrument : Instrument, optional
        The sensor that measured the raw values; None if unknown.
    expected : ExpectedAnswers, optional
        Statistics of the answers to points not used in training; see `model.watch`.

    Raises
    ------
    InputError
        If shapes, values or names are inconsistent; the sentence names the array.
    """

    head: Head
    normalizer: Normalizer
    inputs: InputStatistics
    classes: tuple[str, ...]
    feature_names: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    features: Features | None = None
    clipped: bool = False
    policy: FloatPolicy = field(default_factory=FloatPolicy)
    raw_exponents: raw_inputs.Exponents | None = None
    instrument: Instrument | None = None
    expected: ExpectedAnswers | None = None

    def __post_init__(self) -> None:
        set_checked(self, "classes", tuple(self.classes))
        set_checked(self, "feature_names", tuple(self.feature_names))
        set_checked(self, "record", checked_record(self.record))
        _check_sizes(self)
        self.policy.check(self.n_classes)
        _check_units(self)
        for names, of, number in (
            (self.classes, "classes", self.n_classes),
            (self.feature_names, "feature_names", self.n_features),
        ):
            if names or of == "classes":
                check(len(names) == number, of, f"{len(names):,} names", f"{number:,}")
                check_names(names, f"array {of!r}", distinct=of == "classes")
        least = 1 if isinstance(self.head, NearestHead) or self.policy.predicts == "value" else 2
        if self.n_classes < least:
            raise InputError(
                "the model has one class, but a classifier needs at least 2; train the model again"
            )

    def facts(self) -> dict[str, str]:
        """Return its sizes and classes."""
        return size_facts(self)

    @property
    def n_features(self) -> int:
        """Number of features of a point."""
        return self.n_inputs if self.features is None else self.features.points.n_features

    @property
    def n_inputs(self) -> int:
        """D, the number of inputs of the matrices."""
        return self.head.n_inputs

    @property
    def n_classes(self) -> int:
        """L, the number of classes."""
        return self.head.n_classes

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes of its matrices other than inputs and classes."""
        return self.head.sizes

    def normalized(self, X: Array) -> Float64:
        """Convert dense raw points (n, features) to the matrices' inputs, (n, D) float64."""
        if self.features is not None:
            X = self.features.apply(X)
        if self.clipped:
            X = np.clip(X, self.inputs.lower, self.inputs.upper)
        return self.normalizer.apply(X)

    def scores(self, X: ArrayLike) -> Float64:
        """Return the scores of each row of X.

        Parameters
        ----------
        X : array or scipy.sparse matrix of shape (n, features)
            Raw features, as in the data set.

        Returns
        -------
        ndarray of shape (n, L), float64
            Computed in chunks of rows, so memory stays bounded.

        Raises
        ------
        InputError
            If X is not (n, features) numbers, all finite.
        """
        return _scores_and_nearest(self, X)[0]

    def predict(self, X: ArrayLike) -> Array:
        """Return the index of the highest score of each row of X, the lowest index on a tie.

        The policy may give other answers: numbers (n,), float64, or sets of labels, a matrix (n, L)
        with 1 where a point has a label.
        """
        return self.answers(X)[0]

    def answers(self, X: ArrayLike) -> tuple[Array, Float64]:
        """Return what `predict` returns, and the scores."""
        scores, nearest = _scores_and_nearest(self, X)
        others = self.policy.values(scores)
        return self.policy.answers(scores, nearest) if others is None else others, scores


def units_of(model: Model) -> raw_inputs.Exponents:
    """Return the exponents k, (n,); a sketch passes raw values times 10**k, rounded."""
    if model.raw_exponents is not None:
        return model.raw_exponents
    ends = raw_ends(model)
    seen = (*ends, model.inputs.background) if model.features is None else ends
    return raw_inputs.choose_exponents(*ends, raw_inputs.decimals_of_ranges(*seen))


def raw_ends(model: Model) -> tuple[Float64, Float64]:
    """Return the smallest and largest raw values, each (n,), that are distinguished.

    n is the number of features, or of channels, or 1 for the common range of all pixels.
    """
    if model.features is None:
        return model.inputs.lower, model.inputs.upper
    scale = model.features.points.scale
    return np.minimum(scale.zero, scale.end), np.maximum(scale.zero, scale.end)


def with_units_of(model: Model, points: Array) -> Model:
    """Return the model with exponents chosen for raw training points (n, features)."""
    ends = raw_ends(model)
    decimals = raw_inputs.decimals_of(points, len(ends[0]))
    return replace(model, raw_exponents=raw_inputs.choose_exponents(*ends, decimals))


def _scores_and_nearest(model: Model, X: ArrayLike) -> tuple[Float64, Float64]:
    """Return scores (n, L) of raw points X (n, features), and nearness (n,) to known ones."""
    points = checked_points(model, X)
    scores = np.empty((points.shape[0], model.n_classes))
    nearest = np.ones(len(scores))  # of kinds without such a measure
    rows = max(1, CHUNK_BYTES // (8 * (model.n_features + model.head.values_a_point)))
    for start in range(0, len(scores), rows):
        chunk = slice(start, start + rows)
        normalized = model.normalized(points[chunk])
        if isinstance(model.head, NearestHead):
            scores[chunk], nearest[chunk] = model.head.scores_and_nearest(normalized)
        else:
            scores[chunk] = model.head.scores(normalized)
    return scores, nearest


def why_clamped(model: Model) -> str:
    """Return why inputs outside their range are clamped on purpose; empty if they are not."""
    by_thresholds = model.head.kind == "forest" and model.features is None
    return "on purpose: they are beyond all thresholds of the trees" if by_thresholds else ""


def checked_points(model: Model, X: ArrayLike) -> Array:
    """Return raw points (n, features); `InputError` if not finite numbers."""
    points: Array = np.asarray(X)
    if points.dtype.kind not in "buif" or points.ndim != 2:
        raise InvalidValue(
            "the points",
            f"{points.dtype} of shape {points.shape}, expected a table of numbers",
            "give one row per point",
        )
    check(
        points.shape[1] == model.n_features,
        "the points",
        f"{points.shape[1]:,} features",
        f"{model.n_features:,}",
        "use data like the model's training data",
    )
    if not np.isfinite(points).all():
        row = int(np.argmin(np.isfinite(points))) // model.n_features
        raise InvalidValue(f"row {row} of the points", "NaN or infinity", "correct or drop the row")
    return points


def _check_sizes(model: Model) -> None:
    """Refuse parts for other numbers of inputs, and fit the statistics to the features."""
    wanted, remedy = f"{model.n_inputs:,}", "train the model again"
    for name, numbers in (
        ("normalizer_scale", model.normalizer.scale),
        ("inputs_lower", model.inputs.lower),
    ):
        found = len(numbers)
        check(found == model.n_inputs, name, f"{found:,} features", wanted, remedy)
    if model.features is not None:
        found = model.features.n_outputs
        check(found == model.n_inputs, "the features", f"{found:,}", wanted, remedy)
        set_checked(model, "inputs", model.features.ranged(model.inputs))


def _check_units(model: Model) -> None:
    """Refuse units of raw values for another number of features."""
    if model.raw_exponents is not None:
        given, size = np.asarray(model.raw_exponents), len(raw_ends(model)[0])
        limit = raw_inputs.EXPONENT_LIMIT
        fits = given.shape == (size,) and given.dtype.kind == "i"
        if not fits or max(-int(given.min()), int(given.max())) > limit:
            raise InvalidValue(
                "raw_exponents",
                f"expected {size:,} integers within -{limit}..{limit}, one per feature",
                "train the model again",
            )
        set_checked(model, "raw_exponents", given.astype(np.int64))
    if model.instrument is not None and model.n_features % len(model.instrument.units):
        raise InvalidValue(
            "units",
            f"{len(model.instrument.units):,} units for {model.n_features:,} features",
            "give one unit for each channel, and train the model again",
        )
