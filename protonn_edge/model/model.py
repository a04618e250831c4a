"""The float ProtoNN model and its versioned .npz file.

The trainer makes a `ProtoNNModel`, the quantizer turns it into integers, and everything in between
travels in the file that `save_model` writes and `load_model` reads. A model is checked once, when
it is made, so what holds one need not check it again; a file may come from a stranger and is
checked before memory is taken for it.

Raising the format version
--------------------------
1. Add one to `FORMAT_VERSION` and describe the difference in the table below.
2. Write the new arrays in `_arrays_of`, and list them in `_ARRAYS`.
3. Give `load_model` a function that turns the arrays of the old version into those of the new one
   (``_UPGRADES[old]``), so that old files keep loading.
4. Commit a small file of the old version beside the tests, and a test that loads it.

======= ===================================================================================
version difference
======= ===================================================================================
1       the first
2       "reduction_shapes": three rows of height and width, or none (in version 1 there is none)
3       "threshold": a vector of one number in models of label sets, of none in others (before,
        there are only others); the normalizer "l2"; "cutoff" (before, it is 0)
4       "clipped", "deskewed" (before, neither)
5       "rejection", in models that answer "unknown" alone: three thresholds;
        "activity", in models that become integers: shares of inputs, coordinates and prototypes;
        "pipeline", in models of windows of samples alone: its declaration as JSON
6       "raw_exponents": by which power of ten a sketch multiplies raw values (before, what their
        stored range suggests, see `raw_units`)
======= ===================================================================================
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.naming import NAME_LIMIT, check_names
from protonn_edge.datasets.rows import Matrix, Sparse, dense_rows
from protonn_edge.errors import InputError
from protonn_edge.model.sizes import SizedByMatrices
from protonn_edge.stages.activity import Activity
from protonn_edge.stages.average_pooling.pooling import AveragePooling
from protonn_edge.stages.decision.rejection import UNKNOWN, Rejection
from protonn_edge.stages.deskew.deskew import PixelScale
from protonn_edge.stages.input_quantizer.raw_units import (
    EXPONENT_LIMIT,
    Exponents,
    choose_exponents,
    decimals_of,
    decimals_of_ranges,
)
from protonn_edge.stages.window_features.declaration import FeatureSet
from protonn_edge.stages.window_features.stage import SAMPLE_MAXIMUM, WindowFeatureStage
from protonn_edge.system.files import write_atomically

FORMAT_VERSION = 6
FILE_LIMIT_BYTES = 16 * 2**20
RECORD_LIMIT_BYTES = 2**20
NORMALIZER_KINDS = ("none", "standard", "minmax", "l2")

# Within these, no sum or square of inference overflows float64, whatever features float32 has.
GAMMAS = (1e-15, 1e15)
"""The range of a model's gamma."""

_LARGEST_NUMBER = 1e39  # of what is in a feature's own unit: float32 ends before
_LARGEST_SCALE = 1e30
_LARGEST_PIXEL = float(np.finfo(np.float32).max)

_CHUNK_BYTES = 8 * 2**20
_SIDE_LIMIT = 65_535
_BINS = 256
_ARRAYS = (
    "format_version",
    "W",
    "B",
    "Z",
    "gamma",
    "normalizer_kind",
    "normalizer_offset",
    "normalizer_scale",
    "inputs_lower",
    "inputs_upper",
    "inputs_mean",
    "inputs_deviation",
    "inputs_background",
    "reduction_shapes",
    "classes",
    "feature_names",
    "record",
    "threshold",
    "cutoff",
    "clipped",
    "deskewed",
    "raw_exponents",
)
_OPTIONAL_ARRAYS = ("activity", "pipeline", "rejection")

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Normalizer:
    """An affine map per feature, ``(x - offset) * scale``, which the quantizer folds into W.

    The kind "l2" is another thing: it divides each point by its Euclidean norm, a point of zeros
    excepted, which no matrix can do.

    Attributes
    ----------
    kind : {"none", "standard", "minmax", "l2"}
        How the numbers were found; "none" and "l2" have offset 0 and scale 1.
    offset, scale : ndarray of shape (D,), float64
        In the unit of the feature, at most 1e39, and one over it, at most 1e30; either sign, or 0.
    """

    kind: str
    offset: Float64
    scale: Float64

    def __post_init__(self) -> None:
        if self.kind not in NORMALIZER_KINDS:
            raise InputError(
                f"the normalizer's kind is {self.kind[:40]!r}; it must be one of "
                f"{', '.join(NORMALIZER_KINDS)}"
            )
        _set(self, "offset", _vector(self.offset, "normalizer_offset"))
        scale = _vector(
            self.scale, "normalizer_scale", size=len(self.offset), largest=_LARGEST_SCALE
        )
        _set(self, "scale", scale)
        if self.kind == "l2" and (self.offset.any() or (self.scale != 1).any()):
            raise InputError(
                "the normalizer's kind is 'l2', but it has offsets or scales, which only an affine "
                "one has; train the model again"
            )

    @property
    def keeps_zeros(self) -> bool:
        """Whether zeros stay zeros whatever the data, so that sparse points stay sparse."""
        return self.kind in ("none", "l2")

    def apply(self, X: NDArray[Any]) -> Float64:
        """Return X of shape (n, D) normalized, in float64."""
        if self.kind == "l2":
            return unit_rows(X)
        normalized: Float64 = (X - self.offset) * self.scale
        return normalized

    @classmethod
    def identity(cls, n_features: int, kind: str = "none") -> Normalizer:
        """Return the normalizer of a kind that has no numbers: "none", or "l2"."""
        return cls(kind, np.zeros(n_features), np.ones(n_features))


@dataclass(frozen=True, eq=False)
class InputStatistics:
    """What the quantizer calibrates with: statistics of the projection's inputs in training.

    They are the raw features, the averages of areas, or window features.

    Attributes
    ----------
    lower, upper : ndarray of shape (D,), float64
        Smallest and largest value of each feature that is told apart; with average pooling those
        of any pixel.
    mean, deviation : ndarray of shape (D,), float64
        Mean and standard deviation (of the population) of each feature.
    background : ndarray of shape (D,), float64
        The most frequent value of each feature, the smallest such; the code skips inputs equal to
        it. With average pooling, that of its pixels.
    """

    lower: Float64
    upper: Float64
    mean: Float64
    deviation: Float64
    background: Float64

    def __post_init__(self) -> None:
        size: int | None = None
        for name in ("lower", "upper", "mean", "deviation", "background"):
            array = _vector(getattr(self, name), f"inputs_{name}", size=size)
            _set(self, name, array)
            size = len(array)
        if np.any(self.lower > self.upper):
            j = int(np.argmax(self.lower > self.upper))
            raise InputError(
                f"array 'inputs_lower' is above 'inputs_upper' at feature {j} "
                f"({self.lower[j]:g} > {self.upper[j]:g}); train the model again"
            )
        if np.any(self.deviation < 0):
            raise InputError("array 'inputs_deviation' has a negative value; train the model again")

    def with_dead_zone(self, share: float) -> InputStatistics:
        """Return the statistics with that share of each range, beside its background, cut off."""
        band = share * (self.upper - self.lower)
        rests_high = self.upper - self.background < self.background - self.lower
        return replace(
            self,
            lower=self.lower + np.where(rests_high, 0.0, band),
            upper=self.upper - np.where(rests_high, band, 0.0),
        )

    @classmethod
    def of(cls, X: NDArray[Any], weights: NDArray[Any] | None = None) -> InputStatistics:
        """Measure training features X of shape (n, D), n >= 1, of points with weights (n,)."""
        mean, deviation = mean_and_deviation(X, weights)
        background = [_most_frequent(column, weights) for column in X.T]
        return cls(
            lower=X.min(axis=0).astype(np.float64),
            upper=X.max(axis=0).astype(np.float64),
            mean=mean,
            deviation=deviation,
            background=np.array(background, dtype=np.float64),
        )

    @classmethod
    def of_averages(
        cls, X: NDArray[Any], averages: NDArray[Any], weights: NDArray[Any] | None = None
    ) -> InputStatistics:
        """Measure the averages (n, D) of training images X (n, H W), of weights (n,).

        The device averages bytes, and all pixels become bytes in the same way. So all averages have
        the range and the background of all pixels together.
        """
        mean, deviation = mean_and_deviation(averages, weights)
        lower, upper, background = common_range(X, weights)
        return cls(
            lower=np.full(len(mean), lower),
            upper=np.full(len(mean), upper),
            mean=mean,
            deviation=deviation,
            background=np.full(len(mean), background),
        )


@dataclass(frozen=True, eq=False)
class ProtoNNModel(SizedByMatrices):
    """A trained ProtoNN classifier (Gupta et al., ICML 2017, equation 2).

    Attributes
    ----------
    projection : ndarray of shape (d, D), float32
        W: normalized features to the space of the prototypes.
    prototypes : ndarray of shape (d, m), float32
        B: one prototype a column.
    labels : ndarray of shape (L, m), float32
        Z: the label vector of each prototype, a column.
    gamma : float
        Width of the RBF, within `GAMMAS` (one over a distance in the projected space).
    normalizer : Normalizer
        What turns raw features, or their averages, into those that W expects.
    inputs : InputStatistics
        Statistics of what the normalizer is given in training.
    classes : tuple of str
        L display names, in the order of the scores: printable, distinct, at most `NAME_LIMIT` long.
    feature_names : tuple of str
        A display name for each feature of a point, or empty.
    record : mapping
        How the model was trained; whatever JSON can hold.
    pooling : AveragePooling, optional
        What pools the features before anything else.
    threshold : float, optional
        In a model of label sets (multi-label), the score from which on a point has a label; None
        where each point has exactly one class.
    cutoff : float
        RBF values below it count as 0, as they do on a device; 0 is the paper's RBF.
    clipped : bool
        Whether a feature outside ``inputs.lower..inputs.upper`` counts as that end, as it does on a
        device; then training saw it so, and these ends may be narrower than its points.
    activity : Activity, optional
        How much there is to do on training points; the planner's mean cycles follow from it.
    rejection : Rejection, optional
        Thresholds below which a point is of none of the classes; see `stages.decision`.
    window_features : WindowFeatureStage, optional
        What makes features of windows of raw samples before anything else; not with pooling.
    raw_exponents : ndarray of int64, optional
        The power of ten by which a sketch multiplies each feature before it rounds it to an integer
        of 16 bits: (features,), of windows (channels,), of images that are pooled (1,). None is
        what the range of the training data suggests; see `units`.

    Raises
    ------
    InputError
        If shapes, values or names do not fit together; the sentence names the array.
    """

    projection: Float32
    prototypes: Float32
    labels: Float32
    gamma: float
    normalizer: Normalizer
    inputs: InputStatistics
    classes: tuple[str, ...]
    feature_names: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    pooling: AveragePooling | None = None
    threshold: float | None = None
    cutoff: float = 0.0
    clipped: bool = False
    activity: Activity | None = None
    rejection: Rejection | None = None
    window_features: WindowFeatureStage | None = None
    raw_exponents: Exponents | None = None

    def __post_init__(self) -> None:
        _set(self, "projection", _matrix(self.projection, "W"))
        _set(self, "prototypes", _matrix(self.prototypes, "B", rows=self.n_projections))
        _set(self, "labels", _matrix(self.labels, "Z", columns=self.n_prototypes))
        _set(self, "gamma", float(self.gamma))
        _set(self, "classes", tuple(self.classes))
        _set(self, "feature_names", tuple(self.feature_names))
        _set(self, "record", _checked_record(self.record))
        check_gamma(self.gamma)
        _set(self, "cutoff", float(self.cutoff))
        if not 0 <= self.cutoff < 1:
            raise InputError(f"'cutoff' is {self.cutoff:g}; it must be at least 0 and below 1")
        if self.threshold is not None:
            _set(self, "threshold", float(self.threshold))
            if not np.isfinite(self.threshold):
                raise InputError("'threshold' is not a finite number; train the model again")
        elif self.n_classes < 2:
            raise InputError("array 'Z' has one row; a classifier needs at least 2 classes")
        for name, size in (
            ("normalizer_scale", len(self.normalizer.scale)),
            ("inputs_lower", len(self.inputs.lower)),
        ):
            if size != self.n_inputs:
                raise InputError(
                    f"array {name!r} has {size:,} features, 'W' has {self.n_inputs:,}; "
                    "train the model again"
                )
        self._check_pooling()
        if self.activity is not None:
            sizes = self.n_inputs, self.n_projections, self.n_prototypes
            Activity.of_array(self.activity.to_array(), sizes)
        self._check_rejection()
        self._check_window_features()
        self._check_raw_exponents()
        _check_count(self.classes, "classes", self.n_classes)
        check_names(self.classes, "array 'classes'", distinct=True)
        if self.feature_names:
            _check_count(self.feature_names, "feature_names", self.n_features)
            check_names(self.feature_names, "array 'feature_names'", distinct=False)

    def _check_pooling(self) -> None:
        if self.pooling is None:
            return
        if self.pooling.n_outputs != self.n_inputs:
            raise InputError(
                f"array 'reduction_shapes' gives {self.pooling.n_outputs:,} averages, 'W' has "
                f"{self.n_inputs:,} columns; train the model again"
            )
        for name in ("lower", "upper", "background"):
            if np.ptp(getattr(self.inputs, name)) > 0:
                raise InputError(
                    f"array 'inputs_{name}' differs from average to average, but pixels have one "
                    "range; train the model again"
                )

    def _check_window_features(self) -> None:
        if self.window_features is None:
            return
        if self.pooling is not None:
            raise InputError(
                "the model has both window features and average pooling; train it again with one "
                "of the two"
            )
        if self.window_features.n_outputs != self.n_inputs:
            raise InputError(
                f"array 'pipeline' gives {self.window_features.n_outputs:,} features, 'W' has "
                f"{self.n_inputs:,} columns; train the model again"
            )

    def _check_raw_exponents(self) -> None:
        if self.raw_exponents is None:
            return
        given, size = np.asarray(self.raw_exponents), len(self.raw_ends[0])
        fits = given.shape == (size,) and given.dtype.kind == "i"
        if not fits or max(-int(given.min()), int(given.max())) > EXPONENT_LIMIT:
            raise InputError(
                f"array 'raw_exponents' must have {size:,} whole numbers within "
                f"-{EXPONENT_LIMIT}..{EXPONENT_LIMIT}, one a feature; train the model again"
            )
        _set(self, "raw_exponents", given.astype(np.int64))

    def _check_rejection(self) -> None:
        if self.rejection is None:
            return
        if self.multilabel:
            raise InputError(
                "array 'rejection' is in a model of label sets, which may give a point none anyway"
            )
        if self.n_classes > UNKNOWN:
            raise InputError(
                f"array 'rejection' is in a model of {self.n_classes:,} classes; with at most "
                f'{UNKNOWN} the answer "unknown" is told from them'
            )

    @property
    def multilabel(self) -> bool:
        """Whether a point has a set of labels instead of one class."""
        return self.threshold is not None

    @property
    def raw_ends(self) -> tuple[Float64, Float64]:
        """The range of raw values, each (n,), that is told apart in n features.

        These are all features of a point, the channels of a window, or the one range of all pixels.
        """
        if self.window_features is not None:
            lower = np.array(self.window_features.zero)
            return lower, lower + SAMPLE_MAXIMUM * np.array(self.window_features.step)
        some = slice(None) if self.pooling is None else slice(1)
        return self.inputs.lower[some], self.inputs.upper[some]

    @property
    def units(self) -> Exponents:
        """The exponents k, (n,): a sketch hands over raw values times 10**k, rounded."""
        if self.raw_exponents is not None:
            return self.raw_exponents
        ends = self.raw_ends
        rest = self.inputs.background if self.window_features is None else ends[0]
        return choose_exponents(*ends, decimals_of_ranges(*ends, rest[: len(ends[0])]))

    def with_units_of(self, points: Matrix | Sparse) -> ProtoNNModel:
        """Return the model with the exponents that suit raw training points (n, features)."""
        ends = self.raw_ends
        decimals = decimals_of(points, len(ends[0]))
        return replace(self, raw_exponents=choose_exponents(*ends, decimals))

    def normalized(self, X: NDArray[Any]) -> Float64:
        """Return raw points (n, features), dense, as W expects them: (n, D), float64."""
        if self.first_stage is not None:
            X = self.first_stage.apply(X)
        if self.clipped:
            X = np.clip(X, self.inputs.lower, self.inputs.upper)
        return self.normalizer.apply(X)

    def scores(self, X: ArrayLike) -> Float64:
        """Return ``sum_j z_j exp(-gamma^2 ||b_j - W x||^2)`` for each row x (paper, section 3).

        Terms whose exponential is below the `cutoff` are left out.

        Parameters
        ----------
        X : array or scipy.sparse matrix of shape (n, D)
            Raw features, as the data set has them.

        Returns
        -------
        ndarray of shape (n, L), float64
            Computed in chunks of rows, so memory stays bounded.

        Raises
        ------
        InputError
            If X is not (n, D) numbers, all finite.
        """
        return self._scores_and_nearest(X)[0]

    def _scores_and_nearest(self, X: ArrayLike) -> tuple[Float64, Float64]:
        """Return scores (n, L) and the RBF of the nearest prototype, (n,)."""
        points = self._checked_points(X)
        W = self.projection.astype(np.float64)
        B = self.prototypes.astype(np.float64)
        Z = self.labels.astype(np.float64)
        scores = np.empty((points.shape[0], self.n_classes))
        nearest = np.empty(len(scores))
        rows = max(1, _CHUNK_BYTES // (8 * (self.n_features + self.n_prototypes)))
        for start in range(0, len(scores), rows):
            chunk = slice(start, start + rows)
            projected = self.normalized(dense_rows(points, chunk)) @ W.T
            values = rbf(projected, B, self.gamma, self.cutoff)
            scores[chunk], nearest[chunk] = values @ Z.T, values.max(axis=1)
        return scores, nearest

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the highest score of each row of X, the lowest index on a tie.

        A model of label sets returns the matrix (n, L) that is 1 where a point has a label. One
        that rejects returns `UNKNOWN`, 255, for points of none of its classes.
        """
        scores, nearest = self._scores_and_nearest(X)
        if self.multilabel:
            return self.labels_of(scores)
        indices: NDArray[np.int64] = scores.argmax(axis=1).astype(np.int64)
        if self.rejection is not None:
            indices[self.rejection.rejects(scores, nearest)] = UNKNOWN
        return indices

    def labels_of(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return 1 where scores (n, L) of a model of label sets reach the threshold, else 0."""
        assert self.threshold is not None
        return (scores >= self.threshold).astype(np.int64)

    def _checked_points(self, X: ArrayLike) -> Matrix | Sparse:
        points: Any = csr_array(X) if issparse(X) else np.asarray(X)
        if points.dtype.kind not in "buif" or points.ndim != 2:
            raise InputError("the points must be a table of numbers, one row a point")
        if points.shape[1] != self.n_features:
            raise InputError(
                f"the points have {points.shape[1]:,} features, the model wants "
                f"{self.n_features:,}; use the data that it was trained for"
            )
        values = points.data if issparse(X) else points
        if not np.isfinite(values).all():
            place = int(np.argmin(np.isfinite(values).ravel()))
            row = points.tocoo().row[place] if issparse(X) else place // self.n_features
            raise InputError(
                f"row {row} of the points has a NaN or infinite feature; mend or drop it"
            )
        return cast("Matrix | Sparse", points)


def check_gamma(gamma: float) -> None:
    """Raise `InputError` if an RBF's width is not within `GAMMAS`."""
    low, high = GAMMAS
    if not low <= gamma <= high:  # false for NaN, too
        raise InputError(
            f"'gamma' is {gamma:g}; it must be a number from {low:g} to {high:g}, so give features "
            "in another unit or train with another gamma"
        )


def unit_rows(X: NDArray[Any]) -> Float64:
    """Return the rows of X (n, D) divided by their Euclidean norms; rows of zeros stay so."""
    # The largest entry is divided out first, so that no square overflows or vanishes.
    points = X.astype(np.float64)
    largest = np.abs(points).max(axis=1, keepdims=True)
    scaled = points / np.where(largest > 0, largest, 1.0)
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    unit: Float64 = scaled / np.where(norms > 0, norms, 1.0)
    return unit


def rbf(projected: Float64, prototypes: Float64, gamma: float, cutoff: float = 0.0) -> Float64:
    """Return ``exp(-gamma^2 ||b_j - p_i||^2)`` of shape (n, m), for (n, d) and (d, m).

    Values below `cutoff` are 0.
    """
    squares = (projected**2).sum(axis=1)[:, None] + (prototypes**2).sum(axis=0)
    squares -= 2.0 * (projected @ prototypes)
    np.maximum(squares, 0.0, out=squares)
    squares *= -(gamma**2)
    values: Float64 = np.exp(squares, out=squares)
    values[values < cutoff] = 0.0
    return values


def save_model(model: ProtoNNModel, path: Path) -> None:
    """Write `model` to `path`, whole or not at all; the same model gives the same bytes.

    Raises
    ------
    InputError
        If the file would be larger than `load_model` takes.
    """
    content = model_bytes(model)
    if len(content) > FILE_LIMIT_BYTES:
        raise InputError(
            f"{path} would have {len(content):,} bytes, the limit is {FILE_LIMIT_BYTES:,}; train "
            "with fewer prototypes or projections"
        )
    write_atomically(path, content)


def model_bytes(model: ProtoNNModel) -> bytes:
    """Return what `save_model` writes: an .npz without times, the same on every system."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in _arrays_of(model).items():
            member = zipfile.ZipInfo(f"{name}.npy")  # dated 1980-01-01
            member.create_system = 3
            member.external_attr = 0o600 << 16
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(member, content.getvalue())
    return buffer.getvalue()


def load_model(path: Path) -> ProtoNNModel:
    """Read and check a model file.

    Raises
    ------
    InputError
        One sentence with the file, the array and the problem: not an .npz, truncated, too large,
        pickled, arrays missing or unknown, wrong types or shapes, NaN, a newer format version.
    """
    with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
        if "format_version" not in archive.names:
            raise InputError(
                f"{path} has no array 'format_version', so it is not a model of protonn-edge; "
                "make one with protonn-edge train"
            )
        version = _scalar(archive.read("format_version"), "format_version", "iu", path)
        _check_version(int(version), path)
        arrays = {name: archive.read(name) for name in archive.names}
    for old in range(int(version), FORMAT_VERSION):
        arrays = _UPGRADES[old](arrays)
    try:
        return _model_of(arrays, path)
    except InputError as error:
        message = str(error)
        raise InputError(message if str(path) in message else f"{path}: {message}") from error


def _without_pooling(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return arrays | {"reduction_shapes": np.empty((0, 2), dtype=np.int64)}


def _without_threshold(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return arrays | {"threshold": np.empty(0), "cutoff": np.array(0.0)}


def _neither_clipped_nor_deskewed(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return arrays | {"clipped": np.array(0), "deskewed": np.empty(0)}


def _without_optional_arrays(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return arrays


def _without_raw_exponents(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return arrays | {"raw_exponents": np.empty(0, dtype=np.int64)}


_UPGRADES: dict[int, Callable[[dict[str, NDArray[Any]]], dict[str, NDArray[Any]]]] = {
    1: _without_pooling,
    2: _without_threshold,
    3: _neither_clipped_nor_deskewed,
    4: _without_optional_arrays,
    5: _without_raw_exponents,
}


def _check_version(version: int, path: Path) -> None:
    if version > FORMAT_VERSION:
        raise InputError(
            f"{path} has model format {version}, this protonn-edge reads up to {FORMAT_VERSION}; "
            f"install a newer protonn-edge, one that knows format {version}"
        )
    if version < 1:
        raise InputError(
            f"{path}: array 'format_version' is {version}, the first is 1; train the model again"
        )


def _arrays_of(model: ProtoNNModel) -> dict[str, NDArray[Any]]:
    """Return the arrays of the current format version, in the order of the file."""
    text = json.dumps(model.record, sort_keys=True, allow_nan=False, ensure_ascii=False)
    arrays: dict[str, NDArray[Any]] = {
        "format_version": np.array(FORMAT_VERSION, dtype="<i8"),
        "W": model.projection,
        "B": model.prototypes,
        "Z": model.labels,
        "gamma": np.array(model.gamma, dtype="<f8"),
        "normalizer_kind": np.array(model.normalizer.kind, dtype="<U"),
        "normalizer_offset": model.normalizer.offset,
        "normalizer_scale": model.normalizer.scale,
        "inputs_lower": model.inputs.lower,
        "inputs_upper": model.inputs.upper,
        "inputs_mean": model.inputs.mean,
        "inputs_deviation": model.inputs.deviation,
        "inputs_background": model.inputs.background,
        "reduction_shapes": _shapes(model.pooling),
        "classes": np.array(model.classes, dtype="<U"),
        "feature_names": np.array(model.feature_names, dtype="<U"),
        "record": np.frombuffer(text.encode(), dtype=np.uint8),
        "threshold": np.array([] if model.threshold is None else [model.threshold], dtype="<f8"),
        "cutoff": np.array(model.cutoff, dtype="<f8"),
        "clipped": np.array(model.clipped, dtype="<i8"),
        "deskewed": _pixel_scale(model.pooling),
        "raw_exponents": model.units,
        **_declaration(model.window_features),
    }
    if model.activity is not None:
        arrays["activity"] = model.activity.to_array()
    if model.rejection is not None:
        arrays["rejection"] = np.array(astuple(model.rejection), dtype="<f8")
    little = {"f": "<f", "i": "<i", "U": "<U"}
    return {
        name: array.astype(little[array.dtype.kind] + array.dtype.str[2:])
        if array.dtype.kind in little
        else array
        for name, array in arrays.items()
    }


def _model_of(arrays: Mapping[str, NDArray[Any]], path: Path) -> ProtoNNModel:
    """Build the model from the arrays of a file; the dataclasses check the values."""
    for name in _ARRAYS:
        if name not in arrays:
            raise InputError(
                f"{path} has no array {name!r}; it is incomplete, so train the model again"
            )
    for name in arrays:
        if name not in _ARRAYS + _OPTIONAL_ARRAYS:
            raise InputError(f"{path} has an unknown array {name[:40]!r}; train the model again")
    for name, kinds in (("W", "f4"), ("B", "f4"), ("Z", "f4")):
        _check_type(arrays[name], name, kinds)
    for name in _ARRAYS:
        if name.startswith(("inputs_", "normalizer_")) and name != "normalizer_kind":
            _check_type(arrays[name], name, "f8")
    model = ProtoNNModel(
        projection=arrays["W"],
        prototypes=arrays["B"],
        labels=arrays["Z"],
        gamma=float(_scalar(arrays["gamma"], "gamma", "f", path)),
        normalizer=Normalizer(
            str(_scalar(arrays["normalizer_kind"], "normalizer_kind", "U", path)),
            arrays["normalizer_offset"],
            arrays["normalizer_scale"],
        ),
        inputs=InputStatistics(
            lower=arrays["inputs_lower"],
            upper=arrays["inputs_upper"],
            mean=arrays["inputs_mean"],
            deviation=arrays["inputs_deviation"],
            background=arrays["inputs_background"],
        ),
        classes=_texts(arrays["classes"], "classes"),
        feature_names=_texts(arrays["feature_names"], "feature_names"),
        record=_parsed_json(arrays["record"], "record"),
        pooling=_pooling(arrays["reduction_shapes"], arrays["deskewed"]),
        threshold=_optional(arrays["threshold"], "threshold"),
        cutoff=float(_scalar(arrays["cutoff"], "cutoff", "f", path)),
        clipped=bool(_scalar(arrays["clipped"], "clipped", "i", path)),
        window_features=_window_features(arrays["pipeline"]) if "pipeline" in arrays else None,
        rejection=_rejection(arrays.get("rejection")),
        raw_exponents=arrays["raw_exponents"] if arrays["raw_exponents"].size else None,
    )
    return model if "activity" not in arrays else _with_activity(model, arrays["activity"])


def _with_activity(model: ProtoNNModel, array: NDArray[Any]) -> ProtoNNModel:
    _check_type(array, "activity", "f8")
    sizes = model.n_inputs, model.n_projections, model.n_prototypes
    return replace(model, activity=Activity.of_array(array, sizes))


def _declaration(window_features: WindowFeatureStage | None) -> dict[str, NDArray[np.uint8]]:
    if window_features is None:
        return {}
    declared = {
        "features": window_features.features.text,
        "window": window_features.window,
        "channels": window_features.channels,
        "zero": window_features.zero,
        "step": window_features.step,
        "rate": window_features.rate,
    }
    text = json.dumps(declared, sort_keys=True, allow_nan=False)
    return {"pipeline": np.frombuffer(text.encode(), dtype=np.uint8)}


def _window_features(array: NDArray[Any]) -> WindowFeatureStage:
    declared = _parsed_json(array, "pipeline")
    wanted = {"features": str, "window": int, "channels": int, "zero": list, "step": list}
    rate = declared.pop("rate", None) if isinstance(declared, dict) else None
    usable = (
        isinstance(declared, dict)
        and {name: type(value) for name, value in declared.items()} == wanted
        and all(type(number) is float for name in ("zero", "step") for number in declared[name])
        and (rate is None or type(rate) is float)
    )
    if not usable:
        raise InputError(
            "array 'pipeline' is not the declaration of window features; train the model again"
        )
    features = FeatureSet.of(declared.pop("features"))
    return WindowFeatureStage(features, rate=rate, **declared)


def _shapes(pooling: AveragePooling | None) -> NDArray[np.int64]:
    if pooling is None:
        return np.empty((0, 2), dtype=np.int64)
    shapes = (pooling.image_shape, pooling.cropped_shape, pooling.shape)
    return np.array(shapes, dtype=np.int64)


def _pixel_scale(pooling: AveragePooling | None) -> NDArray[np.float64]:
    scale = None if pooling is None else pooling.deskewed
    return np.array([] if scale is None else [scale.zero, scale.step], dtype="<f8")


def _pooling(array: NDArray[Any], deskewed: NDArray[Any]) -> AveragePooling | None:
    _check_type(array, "reduction_shapes", "i8")
    scale = _deskewed(deskewed)
    if array.shape == (0, 2):
        return None
    if array.shape != (3, 2) or array.min() < 1 or array.max() > _SIDE_LIMIT:
        raise InputError(
            f"array 'reduction_shapes' has the shape {array.shape}; it must be three rows of a "
            f"height and a width, each 1 to {_SIDE_LIMIT:,}; train the model again"
        )
    image, cropped, pooled = ((int(height), int(width)) for height, width in array)
    return AveragePooling(image, cropped, pooled, scale)


def _rejection(array: NDArray[Any] | None) -> Rejection | None:
    if array is None:
        return None
    _check_type(array, "rejection", "f8")
    if array.shape != (3,):
        raise InputError(
            f"array 'rejection' has the shape {array.shape}; it must be the least score, RBF "
            "and margin; calibrate the model again"
        )
    return Rejection(*array.tolist())


def _deskewed(array: NDArray[Any]) -> PixelScale | None:
    _check_type(array, "deskewed", "f8")
    if array.shape == (0,):
        return None
    _check_finite(array, "deskewed")
    if array.shape != (2,) or array[1] == 0:
        raise InputError(
            f"array 'deskewed' has the shape {array.shape}; it must be the value of a pixel that "
            "becomes 0 and a step that is not 0; train the model again"
        )
    if abs(array[0]) > _LARGEST_PIXEL:
        raise InputError(
            f"array 'deskewed' begins with {array[0]:g}, a pixel is at most {_LARGEST_PIXEL:g}; "
            "train the model again"
        )
    return PixelScale(float(array[0]), float(array[1]))


def _set(instance: object, name: str, value: object) -> None:
    """Store a checked field of a frozen dataclass while it is being made."""
    object.__setattr__(instance, name, value)


def _check_type(array: NDArray[Any], name: str, wanted: str) -> None:
    if array.dtype.str[1:] != wanted:
        raise InputError(
            f"array {name!r} has the type {array.dtype.name}, a model file has "
            f"{np.dtype(wanted).name} there; train the model again"
        )


def _scalar(array: NDArray[Any], name: str, kinds: str, path: Path) -> Any:
    if array.shape != () or array.dtype.kind not in kinds:
        raise InputError(
            f"{path}: array {name!r} has the shape {array.shape} and the type {array.dtype.name}, "
            "a model file has a single value there; train the model again"
        )
    return array.item()


def _optional(array: NDArray[Any], name: str) -> float | None:
    if array.shape not in ((0,), (1,)) or array.dtype.kind != "f":
        raise InputError(
            f"array {name!r} has the shape {array.shape} and the type {array.dtype.name}, a model "
            "file has one number or none there; train the model again"
        )
    return float(array[0]) if len(array) else None


def _texts(array: NDArray[Any], name: str) -> tuple[str, ...]:
    if array.dtype.kind != "U" or array.ndim != 1:
        raise InputError(
            f"array {name!r} has the shape {array.shape} and the type {array.dtype.name}, a model "
            "file has a list of names there; train the model again"
        )
    if array.dtype.itemsize > 4 * NAME_LIMIT:
        raise InputError(
            f"array {name!r} has names of {array.dtype.itemsize // 4:,} characters, the limit is "
            f"{NAME_LIMIT}; shorten them"
        )
    return tuple(str(text) for text in array.tolist())


def _check_count(names: tuple[str, ...], what: str, count: int) -> None:
    if len(names) != count:
        raise InputError(
            f"array {what!r} has {len(names):,} names for {count:,}; train the model again"
        )


def _parsed_json(array: NDArray[Any], name: str) -> Any:
    if array.dtype != np.uint8 or array.ndim != 1 or array.size > RECORD_LIMIT_BYTES:
        raise InputError(
            f"array {name!r} must be at most {RECORD_LIMIT_BYTES:,} bytes of JSON; train the model "
            "again"
        )
    try:
        return json.loads(array.tobytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"array {name!r} is not JSON; train the model again") from error


def _checked_record(record: Any) -> dict[str, Any]:
    """Return `record` as JSON gives it back, so that what is saved equals what is loaded."""
    if not isinstance(record, Mapping):
        raise InputError("array 'record' is not a JSON object; train the model again")
    try:
        text = json.dumps(dict(record), allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
        parsed = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"array 'record' cannot be written as JSON ({str(error)[:80]})") from error
    if size > RECORD_LIMIT_BYTES:
        raise InputError(
            f"array 'record' takes {size:,} bytes, the limit is {RECORD_LIMIT_BYTES:,}; record less"
        )
    return dict(parsed)


def _matrix(
    array: NDArray[Any], name: str, *, rows: int | None = None, columns: int | None = None
) -> Float32:
    """Return a read-only float32 copy in C order, checked."""
    given = np.asarray(array)
    if given.ndim != 2 or 0 in given.shape or given.dtype.kind not in "fiu":
        raise InputError(
            f"array {name!r} has the shape {given.shape} and the type {given.dtype.name}; it must "
            "be a matrix of numbers with at least one row and one column"
        )
    for axis, wanted, word in ((0, rows, "rows"), (1, columns, "columns")):
        if wanted is not None and given.shape[axis] != wanted:
            raise InputError(
                f"array {name!r} has {given.shape[axis]:,} {word}, the others want {wanted:,}; "
                "train the model again"
            )
    with np.errstate(over="ignore"):
        matrix = np.array(given, dtype=np.float32, order="C")
    _check_finite(matrix, name)
    matrix.flags.writeable = False
    return matrix


def _vector(
    array: NDArray[Any],
    name: str,
    *,
    size: int | None = None,
    largest: float = _LARGEST_NUMBER,
) -> Float64:
    """Return a read-only float64 copy, checked."""
    given = np.asarray(array)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "fiu":
        raise InputError(
            f"array {name!r} has the shape {given.shape} and the type {given.dtype.name}; it must "
            "be a vector with one number a feature"
        )
    if size is not None and given.size != size:
        raise InputError(
            f"array {name!r} has {given.size:,} features, the others have {size:,}; train the "
            "model again"
        )
    vector = np.array(given, dtype=np.float64)
    _check_finite(vector, name)
    if np.abs(vector).max() > largest:
        j = int(np.abs(vector).argmax())
        raise InputError(
            f"array {name!r} has {vector[j]:g} at feature {j}, the limit is {largest:g}; give that "
            "feature in another unit and train the model again"
        )
    vector.flags.writeable = False
    return vector


def _check_finite(array: NDArray[Any], name: str) -> None:
    if not np.isfinite(array).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"array {name!r} has a value at {where} that is NaN or infinite; train the model again"
        )


def mean_and_deviation(
    X: NDArray[Any], weights: NDArray[Any] | None = None
) -> tuple[Float64, Float64]:
    """Return mean and standard deviation of each column of X (n, D), points weighted by (n,)."""
    if weights is None:
        return X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    counted = np.asarray(weights, dtype=np.float64)
    mean: Float64 = np.average(X, axis=0, weights=counted)
    return mean, np.sqrt(np.average(np.square(X - mean), axis=0, weights=counted))


def common_range(
    X: NDArray[Any], weights: NDArray[Any] | None = None
) -> tuple[float, float, float]:
    """Return the least, the largest and, in 256 bins, the most frequent value in X (n, D)."""
    lower, upper = float(X.min()), float(X.max())
    extent = upper - lower
    if not extent > 0:
        return lower, upper, lower
    counts = np.zeros(_BINS)
    rows = max(1, _CHUNK_BYTES // (8 * X.shape[1]))
    for start in range(0, len(X), rows):
        chunk = slice(start, start + rows)
        bins = np.rint((X[chunk].astype(np.float64) - lower) / extent * (_BINS - 1))
        counted = None if weights is None else np.repeat(weights[chunk], X.shape[1])
        counts += np.bincount(bins.astype(np.intp).ravel(), counted, minlength=_BINS)
    return lower, upper, lower + extent * float(counts.argmax()) / (_BINS - 1)


def _most_frequent(column: NDArray[Any], weights: NDArray[Any] | None) -> float:
    if weights is None:
        values, counts = np.unique(column, return_counts=True)
    else:
        values, places = np.unique(column, return_inverse=True)
        counts = np.bincount(places, weights=weights)
    return float(values[counts.argmax()])
