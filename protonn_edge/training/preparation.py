"""Prepare points for training: compute features, merge equal points, normalize.

Outlier exposure adds synthetic points of no class, from which a model learns where its classes end.
A model trained on its classes only divides the whole projected space among them: what distinguishes
an A from every digit lies in directions that no digit needed. The synthetic points have realistic
single features, or pieces of an image, in unrealistic combinations: pieces of an image change
places, and features of other data are mixed from different points. Training pushes the scores of
all classes down there, at no cost in model size.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from protonn_edge.chain.activity import Activity
from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.datasets.dataset import Sparse, dense_rows
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import protonn_head
from protonn_edge.quantization import measure_activity, quantize
from protonn_edge.training.augmentation import check_image_shape
from protonn_edge.training.feature_stages import FeatureMaking
from protonn_edge.training.given_points import GivenPoints
from protonn_edge.training.label_sets import best_threshold
from protonn_edge.training.normalization import normalized, normalizer_from
from protonn_edge.training.objective import Parameters
from protonn_edge.training.one_class import REACH
from protonn_edge.training.points import Float32, Indices, TrainingSet, distinct_points
from protonn_edge.training.running_statistics import RunningInputs, sparse_statistics
from protonn_edge.training.shared_parameters import SharedParameters
from protonn_edge.training.stored_points import StoredPoints, StoredSet
from protonn_edge.training.validation import check_varying


def parameters_of(model: Model, *, scores_are_logits: bool) -> Parameters:
    """Return the matrices of a model with its gamma folded in.

    - `model`: a ProtoNN; classes in the order of the sorted labels, as an estimator makes it.
    - `scores_are_logits`: true if the loss learns a sharpness, which is part of Z in a model.
    """
    head = protonn_head(model, "the start of training")
    fold = np.float32(head.gamma)
    largest = float(np.abs(head.labels).max())
    scale = np.float32(largest if scores_are_logits and largest > 0 else 1.0)
    sharpness = np.array([np.log(scale)], dtype=np.float32)
    with np.errstate(over="ignore"):  # the caller checks that all are finite
        return Parameters(
            head.projection * fold, head.prototypes * fold, head.labels / scale, sharpness
        )


def check_sizes(sizes: tuple[int, int], n_features: int, n_classes: int) -> None:
    """Refuse a model whose numbers of features or classes differ from the data's."""
    for size, wanted, name in (
        (sizes[0], n_features, "features"),
        (sizes[1], n_classes, "classes"),
    ):
        if size != wanted:
            raise InputError(
                f"the given model has {size:,} {name}, the data has {wanted:,}; give a model and "
                "data that match"
            )


# Numbers of pieces along each side of an image. On USPS and scikit-learn's digits, quarters and
# sixteenths together made models reject more symbols and Greek letters (validation points) than
# also using permuted pixels, images spliced from two, or rotated images.
_CUTS = (2, 4)


def make_exposure_points(
    points: Float32, shape: tuple[int, int] | None, count: int, generator: np.random.Generator
) -> Float32:
    """Return `count` points of no class, (count, D) float32, made from raw points (n, D).

    - `shape`: height and width if the points are images or signals; None if features have no order.
    """
    if shape is None:
        rows = generator.integers(0, len(points), (count, points.shape[1]))
        return points[rows, np.arange(points.shape[1])]
    chosen = points[generator.integers(0, len(points), count)].reshape(-1, *shape)
    parts = np.array_split(chosen, len(_CUTS))
    moved = [_rearranged(part, cuts, generator) for part, cuts in zip(parts, _CUTS, strict=True)]
    return np.concatenate(moved).reshape(count, -1)


def _rearranged(images: Float32, cuts: int, generator: np.random.Generator) -> Float32:
    """Return images (n, H, W) with permuted pieces; the remainder at the border stays."""
    n, height, width = images.shape
    rows, columns = min(cuts, height), min(cuts, width)
    high, wide = height // rows, width // columns
    split = (n, rows, high, columns, wide)
    part = images[:, : rows * high, : columns * wide].reshape(split).swapaxes(2, 3)
    pieces = part.reshape(n, rows * columns, high, wide)
    order = _permutations(n, rows * columns, generator)
    pieces = np.take_along_axis(pieces, order[:, :, None, None], axis=1)
    back = pieces.reshape(n, rows, columns, high, wide).swapaxes(2, 3)
    moved = images.copy()
    moved[:, : rows * high, : columns * wide] = back.reshape(n, rows * high, columns * wide)
    return moved


def _permutations(n: int, size: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return n permutations (n, size), none the identity unless size is 1."""
    order = generator.permuted(np.tile(np.arange(size), (n, 1)), axis=1)
    unmoved = (order == np.arange(size)).all(axis=1)
    order[unmoved] = np.roll(order[unmoved], 1, axis=1)
    return order


_THRESHOLD_SCORES = 4_000_000
_CALIBRATION_POINTS = 10_000
_ACTIVITY_POINTS, _ACTIVITY_POINTS_AT_LEAST = 4_000, 100
_VALUES = 4_000_000  # of these points, unless they are the least


class PreparedPoints:
    """Prepared training points, and the parts of a model that they determine.

    Parameters
    ----------
    settings : SharedParameters
        Checked, alone and together.
    points : ndarray or CSR matrix of shape (n, features), float32
        Raw features, distinct.
    y : ndarray of shape (n,), int64, or CSR matrix of shape (n, L)
        Class indices from 0; each class has at least one point. Or label sets.
    weights : ndarray of shape (n,), float32, or None
        Weight of each point, 1 on average.
    seed : int
        Everything random follows from it.
    n_classes : int, optional
        L, if some classes are missing from `y`.
    stored : StoredPoints, optional
        All points, if `points` is a sample of them.
    groups : ndarray of shape (n,), int64, optional
        The group of each point, such as a person.

    Attributes
    ----------
    test : tuple of (n', D) float32 and (n',) int64, or None
        Raw points and classes to report on.
    classes, feature_names : tuple of str
        Display names for the model.
    n_rows : int
        Number of points before equal ones were merged.
    inputs : InputStatistics
        Statistics of the raw features, or of the computed ones.
    normalizer : Normalizer
    running : RunningInputs
        Source of the statistics if the points are stored, or arrive in parts.
    data_sha256 : str
        Of all points.
    """

    def __init__(
        self,
        settings: SharedParameters,
        points: Float32 | Sparse,
        y: Indices | Sparse,
        weights: Float32 | None,
        *,
        seed: int,
        n_classes: int | None = None,
        stored: StoredPoints | None = None,
        groups: Indices | None = None,
    ) -> None:
        self.settings, self.seed, self.groups = settings, seed, groups
        self.generator = np.random.default_rng(seed)
        self.raw, self._y, self._weights = points, y, weights
        self.n_rows = self._known = int(points.shape[0])
        self.multilabel = bool(issparse(y))
        if n_classes is None:
            n_classes = y.shape[1] if self.multilabel else len(np.unique(y))
        self.n_classes = n_classes
        self.test: tuple[Float32 | Sparse, Indices | Sparse] | None = None
        self.classes: tuple[str, ...] = ()
        self.feature_names: tuple[str, ...] = ()
        given = settings.initial_model
        if given is not None:
            check_sizes((given.n_features, given.n_classes), points.shape[1], n_classes)
        if settings.strangers > 0:
            self._add_exposure_points()
        self.making = FeatureMaking.chosen(settings, self.raw, self._y, self._weights, seed=seed)
        self._features = self.making.apply(self.raw)
        self._stored = stored
        self.running = RunningInputs(self._features.shape[1], self.making.stage)
        self.data_sha256 = "" if stored is None else stored.survey(self.running)
        self.inputs = self._statistics()
        check_varying(self.inputs.lower, self.inputs.upper)
        self.normalizer = (
            normalizer_from(settings.normalization, self.inputs)
            if given is None
            else given.normalizer
        )

    @classmethod
    def of(
        cls, settings: SharedParameters, given: GivenPoints, *, seed: int, groups: Indices | None
    ) -> Self:
        """Return the points in memory: all of them, or a sample of stored ones."""
        if given.large:
            stored = StoredPoints(given.X, given.y, given.weights)
            sample = stored.sample(np.random.default_rng(seed))
            prepared = cls(settings, *sample, seed=seed, stored=stored)
            prepared.n_rows = len(stored)
            return prepared
        X, y, weights, kept = distinct_points(given.X, given.y, given.weights, groups)
        prepared = cls(settings, X, y, weights, seed=seed, groups=kept)
        counted = given.weights
        prepared.n_rows = given.y.shape[0] if counted is None else int(np.count_nonzero(counted))
        prepared.data_sha256 = given.digest(groups)
        return prepared

    def training_set(self) -> TrainingSet:
        """Return the normalized points with targets, weights, and points to report on.

        If the points are stored, these are a sample; see `source`.
        """
        X = normalized(self.normalizer, self._features)
        of = TrainingSet.of_label_sets if self.multilabel else TrainingSet.of_classes
        data = of(X, self._y, self._weights)
        if self.raw.shape[0] > self._known:
            data = data.with_last_class_strange()
        if self.test is None:
            return data
        points, y = self.test
        return replace(data, test=(self.normalized(points), y))

    def source(self, data: TrainingSet) -> TrainingSet:
        """Return the source of batches: the training set, or the disk."""
        if self._stored is None:
            return data
        return StoredSet.of(self._stored, data, self.running.changing, self.normalized)

    def normalized(self, points: Float32 | Sparse) -> Float32 | Sparse:
        """Return raw points (n, D) prepared for training."""
        return normalized(self.normalizer, self.making.apply(points))

    @property
    def calibration(self) -> tuple[Float32 | Sparse, Indices]:
        """A limited number of raw training points and classes, for measurements."""
        step = -(-self._known // _CALIBRATION_POINTS)
        return self.raw[: self._known : step], self._y[: self._known : step]

    @property
    def for_device(self) -> bool:
        """Whether the model can become integers, which training then takes into account."""
        return not self.multilabel and self.normalizer.kind != "l2"

    @property
    def parts(self) -> dict[str, Any]:
        """The parts of a model that all kinds of classifiers share, by name."""
        return {
            "normalizer": self.normalizer,
            "inputs": self.inputs,
            "classes": self.classes,
            "feature_names": self.feature_names,
            "feature_stage": self.making.stage,
            "clipped": self.making.ends is not None,
            "threshold": 0.0 if self.multilabel else None,
        }

    def measured(self, model: Model) -> Model:
        """Return a trained model with its threshold and activity, measured on training points."""
        model = model.with_units_of(self.raw[: self._known])
        if model.multilabel:
            return replace(model, threshold=self._threshold(model))
        return replace(model, activity=self._activity(model))

    def _activity(self, model: Model) -> Activity | None:
        """Return the activity of the integer model on some training points, if there is one."""
        try:
            reference = quantize(model)
        except InputError:
            return None
        n, features = self._known, self.raw.shape[1]
        step = -(-n // min(_ACTIVITY_POINTS, max(_ACTIVITY_POINTS_AT_LEAST, _VALUES // features)))
        points = dense_rows(self.raw, slice(None, n, step))
        return measure_activity(reference, reference.quantize(points))

    def _threshold(self, model: Model) -> float:
        """Return the score threshold for labels, chosen on some training points."""
        count = max(100, _THRESHOLD_SCORES // model.n_classes)
        rows = np.random.default_rng(self.seed).permutation(self.raw.shape[0])[:count]
        weights = None if self._weights is None else self._weights[rows]
        return best_threshold(model.scores(self.raw[rows]), self._y[rows], weights)

    def _statistics(self) -> InputStatistics:
        if issparse(self.raw):
            return sparse_statistics(self.raw, self._weights)
        inputs = self.making.statistics(self.raw, self._features, self._weights)
        if self._stored is not None:
            inputs = self.running.inputs(inputs.background)
        if self.settings.one_class:
            inputs = inputs.reaching(REACH)
        return inputs.with_dead_zone(float(self.settings.dead_zone))

    def _add_exposure_points(self) -> None:
        """Add points of no class, as one more class."""
        shape = self.settings.image_shape
        if shape is not None:
            check_image_shape(shape, self.raw.shape[1])
        count = max(1, round(float(self.settings.strangers) * self._known))
        made = make_exposure_points(self.raw, shape, count, np.random.default_rng([self.seed, 1]))
        self.raw = np.concatenate([self.raw, made])
        self._y = np.concatenate([self._y, np.full(count, self.n_classes)])
        if self._weights is not None:
            ones = np.ones(count, dtype=np.float32)
            self._weights = np.concatenate([self._weights, ones])
        if self.groups is not None:
            self.groups = np.concatenate([self.groups, np.zeros(count, np.int64)])
