"""The integer model: the exact arithmetic that every generated program reproduces.

A point is D unsigned bytes ``q`` (see `InputQuantizer`), or, with average pooling, an image of
more of them, ``b``, of which the device makes D averages first::

    v_i = sum_n weight_in b_n                         16 bits, never overflows
    q_i = (v_i * pooling_multiplier + 2^15) >> 16     0..maximum

With window features it is a window of samples, b again, of which the device makes D features,
integers of 16 bits (see `stages.window_features`), and bytes of these as `raw_inputs` has it::

    q_i = byte of feature f_i(b)                      0..maximum

The rest is the same for all::

    a_k = bias_k + sum_i W_ki q_i                    16 or 24 bits, never overflows
    h_k = a_k, or a_k >> 8 of 24 bits                 16 bits
    p_k = (h_k * multiplier + offset_k) >> 16         clamped to 8 bits
    r_j = sum_k (p_k - B_kj)^2                        "far" from 2^(8 + distance_shift) on
    e_j = table[r_j >> distance_shift], or 0 where prototype j is far
    s_l = sum_j Z_lj e_j                              16 or 32 bits
    class = the first l with the largest s_l, or "unknown" (see `stages.decision`)

``offset`` holds the half that makes p round to nearest. Sums may wrap around on the way, as long as
the last one fits.

The NumPy code below is the reference; the C templates and the planner read the same object and
derive no shift and no scale of their own.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.errors import InputError
from protonn_edge.model.raw_units import Exponents
from protonn_edge.model.sizes import SizedByMatrices
from protonn_edge.quantization.exponential import (
    MAXIMUM_DISTANCE_SHIFT,
    RBF_MAXIMUM,
    TABLE_SIZE,
    rbf_of_squares,
)
from protonn_edge.quantization.hashed_names import hashed_name, hashed_text
from protonn_edge.quantization.raw_inputs import (
    FloatQuantizer,
    RawQuantizer,
    float_quantizer,
    raw_quantizer,
)
from protonn_edge.stages.average_pooling.pooling import AveragePooling
from protonn_edge.stages.decision.rejection import UNKNOWN, IntegerRejection
from protonn_edge.stages.input_quantizer.saturation import saturated_steps
from protonn_edge.stages.window_features.stage import SAMPLE_MAXIMUM, WindowFeatureStage

IntArray = NDArray[np.int64]

_PROTOTYPES_IN_PAIRS = 8_192  # all pairs of them take a second
_ROWS_AT_ONCE = 512  # keeps the (rows, m, d) differences in the cache and the memory bounded

# A coordinate of the projection is a byte, so what is beyond is clamped. Quantizing leaves so much
# room around the prototypes that a point there is far from all of them anyway.
PROJECTION_MINIMUM, PROJECTION_MAXIMUM = -128, 127
MAXIMUM_MULTIPLIER = 0xFFFF
OFFSET_STEP = 1 << 8  # a coordinate's offset has no lowest byte, which would take time to add
REQUANTIZED_LIMIT = (1 << 31) - (1 << 24)  # 32 bits, with room for the least coordinate
REQUANTIZE_SHIFT = 16  # two whole bytes: an 8-bit chip shifts by renaming registers
ACCUMULATOR_BITS = (16, 24)
SCORE_BITS = (16, 32)
MODEL_HASH_BYTES = 8  # of the SHA-256, what firmware knows its model by
UNHASHED = ("raw_exponents", "feature_names")  # fields that no score depends on
FEATURE_MAXIMUM = 255  # of a pixel that goes into an average
_HALF = 1 << 15


@dataclass(frozen=True)
class InputQuantizer:
    """How raw features become the unsigned bytes that the device is fed.

    Attributes
    ----------
    zero : ndarray of shape (D,), float64
        The raw value that becomes 0, in the feature's own unit: the end of the feature's range
        that is nearer to its most frequent value, because a zero input costs the device nothing.
    step : ndarray of shape (D,), float64
        Raw units per integer step; negative where `zero` is the upper end; never 0.
    maximum : int
        The largest quantized value, 1..255.
    """

    zero: NDArray[np.float64]
    step: NDArray[np.float64]
    maximum: int

    def quantize(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return raw features (n, D) as bytes (n, D), saturating at 0 and `maximum`.

        Raises
        ------
        InputError
            If the number of features differs from the model's, or a value is not finite.
        """
        raw = np.asarray(X, dtype=np.float64)
        if raw.ndim != 2 or raw.shape[1] != len(self.zero):
            raise InputError(
                f"the points have shape {raw.shape}, the model takes {len(self.zero)} features a "
                "point; use the data that the model was trained for"
            )
        if not np.isfinite(raw).all():
            row = int(np.flatnonzero(~np.isfinite(raw).all(axis=1))[0])
            raise InputError(f"row {row} has a value that is not finite; fill or drop it")
        return saturated_steps(raw, self.zero, self.step, self.maximum)

    def saturations(self, X: ArrayLike) -> int:
        """Return how many values of raw features (n, D) are cut off by more than half a step."""
        with np.errstate(over="ignore"):
            steps = (np.asarray(X, dtype=np.float64) - self.zero) / self.step
        return int(np.count_nonzero((steps < -0.5) | (steps >= self.maximum + 0.5)))

    def restore(self, Q: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the raw features (n, D) that bytes (n, D) stand for."""
        return self.zero + self.step * Q


@dataclass(frozen=True)
class IntegerModel(SizedByMatrices):
    """All integers of a quantized ProtoNN model; see the module's text for the arithmetic.

    Attributes
    ----------
    inputs : InputQuantizer
        From raw features, or their averages, to the projection's inputs.
    projection : ndarray of shape (d, D), int8
        W.
    bias : ndarray of shape (d,), int64
        What the accumulators begin with, chosen to centre their range.
    accumulator_bits : int
        16 or 24; every sum fits, on any input.
    multiplier : int
        1..65535, brings the upper 16 bits of the accumulators to the scale of the prototypes.
    offset : ndarray of shape (d,), int64
        Added before the shift: half a step for rounding, less the centre of the prototypes.
        Multiples of 256.
    prototypes : ndarray of shape (d, m), int8
        B.
    distance_shift : int
        0..6; a squared distance of ``2**(8 + distance_shift)`` is where the table ends.
    table : ndarray of shape (256,), uint8
        The RBF by the squared distance, shifted.
    labels : ndarray of shape (L, m), int8
        Z.
    score_scale : float
        What one unit of an integer score is worth in the float model's scores.
    classes : tuple of str
        Names of the L classes.
    pooling : AveragePooling, optional
        What the device pools before it projects.
    rejection : IntegerRejection, optional
        Thresholds below which the answer is `UNKNOWN`.
    window_features : WindowFeatureStage, optional
        What the device makes of a window of samples before it projects.
    raw_exponents : ndarray of int64, optional
        The power of ten by which a sketch multiplies raw values, as `ProtoNNModel.units`; none
        without. It is no part of the arithmetic that begins with bytes, nor of the model's hash.
    feature_names : tuple of str
        Names of the features of a point, or none.
    """

    score_tolerance: ClassVar[int] = 0
    """Units by which scores may differ between executions: none."""

    inputs: InputQuantizer
    projection: NDArray[np.int8]
    bias: IntArray
    accumulator_bits: int
    multiplier: int
    offset: IntArray
    prototypes: NDArray[np.int8]
    distance_shift: int
    table: NDArray[np.uint8]
    labels: NDArray[np.int8]
    score_scale: float
    classes: tuple[str, ...]
    pooling: AveragePooling | None = None
    rejection: IntegerRejection | None = None
    window_features: WindowFeatureStage | None = None
    raw_exponents: Exponents | None = None
    feature_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_counts(self.n_features, self.n_projections, self.n_prototypes, self.n_classes)
        self._check_ranges()

    def _check_ranges(self) -> None:
        """Refuse numbers with which some input could overflow a sum of the generated code."""
        low, high = self.accumulator_range()
        limit = 1 << (self.accumulator_bits - 1)
        dropped = self.accumulator_bits - 16
        product = (max(-low, high) >> dropped) * self.multiplier + int(np.abs(self.offset).max())
        for fits, what in (
            (1 <= self.inputs.maximum <= 255, f"largest input {self.inputs.maximum}"),
            (
                self.accumulator_bits in ACCUMULATOR_BITS,
                f"accumulators of {self.accumulator_bits} bits",
            ),
            (-limit <= low and high < limit, f"accumulators in {low:,}..{high:,}"),
            (1 <= self.multiplier <= MAXIMUM_MULTIPLIER, f"multiplier {self.multiplier:,}"),
            (product < REQUANTIZED_LIMIT, f"requantized accumulators up to {product:,}"),
            (not (self.offset % OFFSET_STEP).any(), "offsets that are no multiples of 256"),
            (
                0 <= self.distance_shift <= MAXIMUM_DISTANCE_SHIFT,
                f"distance shift {self.distance_shift}",
            ),
            (self._pooling_fits(), "average pooling that does not give the projection's inputs"),
            (
                self._window_features_fit(),
                "window features that do not give the projection's inputs",
            ),
            (self._rejection_fits(), "thresholds that no score or no RBF reaches"),
        ):
            if not fits:
                raise InputError(
                    f"the integer model has {what}, which generated code cannot hold; quantize a "
                    "model that was trained here"
                )

    def _pooling_fits(self) -> bool:
        """Whether all pixels become bytes alike, and their averages the projection's inputs."""
        if self.pooling is None:
            return True
        same = np.ptp(self.inputs.zero) == 0 and np.ptp(self.inputs.step) == 0
        largest = self.pooling.area * FEATURE_MAXIMUM * self.pooling_multiplier
        return bool(
            same
            and self.pooling.n_outputs == self.n_inputs
            and self.pooling_multiplier <= MAXIMUM_MULTIPLIER
            and (largest + _HALF) >> 16 == self.inputs.maximum
        )

    def _window_features_fit(self) -> bool:
        if self.window_features is None:
            return True
        return self.pooling is None and self.window_features.n_outputs == self.n_inputs

    def _rejection_fits(self) -> bool:
        """Whether thresholds are within what they are compared with, on any input."""
        if self.rejection is None:
            return True
        thresholds = self.rejection
        low, high = self.score_range()
        within = (
            0 <= thresholds.score <= max(0, high)
            and 0 <= thresholds.rbf <= int(self.table.max())
            and 0 <= thresholds.margin <= high - low
        )
        return within and self.n_classes <= UNKNOWN and bool(thresholds.statistics)

    @cached_property
    def features(self) -> InputQuantizer:
        """What turns raw features into the bytes that the device is fed."""
        if self.window_features is not None:
            window = self.window_features.window
            zeros, steps = (
                np.tile(self.window_features.zero, window),
                np.tile(self.window_features.step, window),
            )
            return InputQuantizer(zeros, steps, SAMPLE_MAXIMUM)
        if self.pooling is None:
            return self.inputs
        finer = self.inputs.maximum / FEATURE_MAXIMUM
        zero, step = float(self.inputs.zero[0]), float(self.inputs.step[0]) * finer
        n = self.n_features
        return InputQuantizer(np.full(n, zero), np.full(n, step), FEATURE_MAXIMUM)

    @cached_property
    def raw_inputs(self) -> RawQuantizer:
        """What turns raw integers into the bytes that the device is fed, on the device."""
        scaled = self.raw_exponents is not None and bool(self.raw_exponents.any())
        # Window features go through the same code, whose cycles are part of the bound.
        fine = scaled and self.window_features is None
        return raw_quantizer(self.features, self.raw_exponents, fine=fine)

    @cached_property
    def float_inputs(self) -> FloatQuantizer:
        """What turns raw floats into the bytes that the device is fed, on the device."""
        return float_quantizer(self.features)

    @cached_property
    def feature_inputs(self) -> RawQuantizer:
        """What turns window features into the projection's inputs, on the device."""
        return raw_quantizer(self.inputs)

    @property
    def pooling_multiplier(self) -> int:
        """What brings the sum of an area to 0..maximum, in units of 2**-16; 0 if none is made."""
        if self.pooling is None:
            return 0
        return round(self.inputs.maximum * 65_536 / (FEATURE_MAXIMUM * self.pooling.area))

    @property
    def model_bytes(self) -> int:
        """Bytes of the int8 parameters W, B and Z in flash."""
        return int(self.projection.nbytes + self.prototypes.nbytes + self.labels.nbytes)

    @cached_property
    def model_sha256(self) -> str:
        """SHA-256 over every field in its order, in hexadecimal: equal if the arithmetic is."""
        digest = hashlib.sha256()
        for part in (self.inputs, self):
            for field in fields(part):
                value = getattr(part, field.name)
                if value is None or isinstance(value, InputQuantizer) or field.name in UNHASHED:
                    continue
                digest.update(f"{hashed_name(field.name)}:".encode())
                digest.update(_canonical_bytes(value))
        if self.pooling is not None:
            digest.update(f"reduction_multiplier:{self.pooling_multiplier}".encode())
        return digest.hexdigest()

    def quantize(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return raw features (n, D) as the bytes (n, D) that the device is fed."""
        return self.features.quantize(X)

    def projection_inputs(self, Q: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the projection's inputs, (n, D), of what the device is fed, both uint8."""
        if self.window_features is not None:
            return self.feature_inputs.quantize(self.window_features.of_bytes(Q))
        if self.pooling is None:
            return Q
        scaled = self.pooling.sums(Q).astype(np.uint32) * np.uint32(self.pooling_multiplier)
        return ((scaled + np.uint32(_HALF)) >> 16).astype(np.uint8)

    def accumulate(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the accumulators a, (n, d), of the projection's inputs Q, (n, D) uint8."""
        # BLAS has no integer product; float64 is exact here, all sums are far below 2**53.
        sums = Q.astype(np.float64) @ self.projection.T.astype(np.float64)
        return self.bias + sums.astype(np.int64)

    def project(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the projections p, (n, d) in -128..127, of the projection's inputs Q, (n, D)."""
        return np.clip(
            self._requantized(self.accumulate(Q)), PROJECTION_MINIMUM, PROJECTION_MAXIMUM
        )

    def _requantized(self, accumulators: IntArray) -> IntArray:
        upper = accumulators >> (self.accumulator_bits - 16)
        requantized: IntArray = (upper * self.multiplier + self.offset) >> REQUANTIZE_SHIFT
        return requantized

    def squared_distances(self, P: IntArray) -> IntArray:
        """Return r, (n, m), the squares of the distances of projections P, (n, d)."""
        points, prototypes = P.astype(np.float64), self.prototypes.astype(np.float64)
        squares = np.square(points).sum(axis=1)[:, None] + np.square(prototypes).sum(axis=0)
        squares -= 2.0 * (points @ prototypes)
        exact: IntArray = squares.astype(np.int64)  # all are far below 2**53
        return exact

    def rbf_values(self, P: IntArray) -> IntArray:
        """Return the table's values e, (n, m) in 0..127, of projections P, (n, d)."""
        index = self.squared_distances(P) >> self.distance_shift
        entries = np.append(self.table, np.uint8(0)).astype(np.int64)
        values: IntArray = entries[np.minimum(index, len(self.table))]
        return values

    def scores(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the scores s, (n, L) int64, of what the device is fed, Q, (n, features) uint8."""
        return self.scores_and_nearest(Q)[0]

    def scores_and_nearest(self, Q: NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
        """Return the scores (n, L) of what the device is fed, Q (n, features) uint8, and more.

        That is the RBF of the nearest prototype, (n,) in 0..127; all are int64.
        """
        Q = np.asarray(Q)
        if Q.dtype != np.uint8 or Q.ndim != 2 or Q.shape[1] != self.n_features:
            raise InputError(
                f"quantized points are (n, {self.n_features}) uint8, these are {Q.shape} "
                f"{Q.dtype}; pass them through quantize() first"
            )
        if Q.size and int(Q.max()) > self.features.maximum:
            raise InputError(
                f"a quantized input is {int(Q.max())}, the largest is {self.features.maximum}; "
                "pass the points through quantize() first"
            )
        scores = np.zeros((len(Q), self.n_classes), np.int64)
        nearest = np.zeros(len(Q), np.int64)
        labels = self.labels.T.astype(np.int64)
        for begin in range(0, len(Q), _ROWS_AT_ONCE):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            values = self.rbf_values(self.project(self.projection_inputs(Q[part])))
            scores[part], nearest[part] = values @ labels, values.max(axis=1)
        return scores, nearest

    def answers(self, Q: NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
        """Return classes (n,) and scores (n, L), both int64, of quantized inputs Q.

        Ties go to the lower index. A point that is rejected has the class `UNKNOWN`, 255, and its
        scores all the same.
        """
        scores, nearest = self.scores_and_nearest(Q)
        classes: IntArray = scores.argmax(axis=1)
        if self.rejection is not None:
            classes[self.rejection.rejects(scores, nearest)] = UNKNOWN
        return classes, scores

    def predict(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the class index, (n,) int64, of quantized inputs Q; see `answers`."""
        return self.answers(Q)[0]

    def accumulator_range(self) -> tuple[int, int]:
        """Return the least and the largest accumulator that any input can give."""
        low, high = _ranges_of(self.projection, self.inputs.maximum, self.bias)
        return int(low.min()), int(high.max())

    def projection_range(self) -> tuple[int, int]:
        """Return the least and the largest coordinate p, before it is clamped, of any input."""
        reached = self._requantized(
            np.array([[end] * self.n_projections for end in self.accumulator_range()])
        )
        return int(reached.min()), int(reached.max())

    def coordinate_ranges(self) -> tuple[IntArray, IntArray]:
        """Return the least and the largest p of each coordinate, (d,), before it is clamped."""
        low, high = _ranges_of(self.projection, self.inputs.maximum, self.bias)
        return self._requantized(low), self._requantized(high)

    @property
    def clamps(self) -> bool:
        """Whether some input pushes a coordinate of the projection out of 8 bits."""
        low, high = self.projection_range()
        return low < PROJECTION_MINIMUM or high > PROJECTION_MAXIMUM

    @property
    def distance_limit(self) -> int:
        """The squared distance at which a prototype begins to be far."""
        return TABLE_SIZE << self.distance_shift

    @cached_property
    def score_bits(self) -> int:
        """Bits of a score, 16 or 32: the least that hold it on any input."""
        low, high = self.score_range()
        return SCORE_BITS[0] if low >= -(1 << 15) and high < 1 << 15 else SCORE_BITS[1]

    def score_range(self) -> tuple[int, int]:
        """Return bounds of the scores on any input.

        Two bounds hold, and each class has the tighter one: the sum of the label entries of a sign
        times the largest RBF value; and the norm of the score, see `score_norms`.
        """
        low, high = _ranges_of(
            self.labels, int(self.table.max()), np.zeros(self.n_classes, np.int64)
        )
        norms = score_norms(self.labels, self.prototypes, self.table, self.distance_shift)
        limit = np.minimum(norms, 1 << 62).astype(np.int64)
        return int(np.maximum(low, -limit).min()), int(np.minimum(high, limit).max())


def score_norms(
    labels: NDArray[np.int8],
    prototypes: NDArray[np.int8],
    table: NDArray[np.uint8],
    distance_shift: int,
) -> NDArray[np.float64]:
    """Bound the magnitude of each class's score over all points of the projected space.

    With exact RBFs ``k_j(p) = A exp(-c ||p - b_j||^2)`` a score ``sum_j z_j k_j`` is a function
    of the Gaussian RBF's Hilbert space, so nowhere larger than its norm there, which is the
    root of ``A^2 sum_ij z_i z_j exp(-c ||b_i - b_j||^2)`` (Aronszajn, 1950). An entry of the table
    differs from the exact RBF by at most some E, so a score differs by at most E sum_j |z_j|.

    Parameters
    ----------
    labels : ndarray of shape (L, m)
        Z; whole numbers.
    prototypes : ndarray of shape (d, m), int8
        B.
    table : ndarray of shape (256,), uint8
        The RBF by the squared distance, shifted right by `distance_shift`.
    distance_shift : int
        0..6.

    Returns
    -------
    ndarray of shape (L,), float64
        Whole numbers, with a margin of 1 for rounding in floats; infinite for more prototypes than
        it is worth looking at all pairs of.
    """
    Z, B = labels.astype(np.float64), prototypes.astype(np.float64)
    if B.shape[1] > _PROTOTYPES_IN_PAIRS:
        return np.full(len(Z), np.inf)
    r = np.arange((TABLE_SIZE << distance_shift) + 1)
    entries = np.append(table, 0).astype(np.float64)[r >> distance_shift]
    error = float(np.abs(entries - RBF_MAXIMUM * rbf_of_squares(r, distance_shift)).max())
    energy = np.maximum(_energy(Z, B, distance_shift), 0.0)
    norms = RBF_MAXIMUM * np.sqrt(energy) + error * np.abs(Z).sum(axis=1)
    bound: NDArray[np.float64] = np.ceil(norms * (1 + 1e-9)) + 1
    return bound


def _energy(
    Z: NDArray[np.float64], B: NDArray[np.float64], distance_shift: int
) -> NDArray[np.float64]:
    """Return ``sum_ij z_i z_j k(b_i, b_j)`` of each class, (L,), some rows of pairs at a time."""
    squares, m = np.square(B).sum(axis=0), B.shape[1]
    energy = np.zeros(len(Z))
    for begin in range(0, m, _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        distances = squares[rows, None] + squares - 2.0 * (B[:, rows].T @ B)
        energy += ((Z[:, rows] @ rbf_of_squares(distances, distance_shift)) * Z).sum(axis=1)
    return energy


def check_counts(features: int, projections: int, prototypes: int, classes: int) -> None:
    """Raise `InputError` for sizes that the generated code's counters cannot hold."""
    for number, limit, name in (
        (features, 65_535, "features"),
        (projections, 255, "projections"),
        (prototypes, 65_535, "prototypes"),
        (classes, 255, "classes"),
    ):
        if number > limit:
            raise InputError(
                f"the model has {number:,} {name}, generated code counts up to {limit:,}; train a "
                "smaller one"
            )


def _ranges_of(matrix: NDArray[np.int8], maximum: int, bias: IntArray) -> tuple[IntArray, IntArray]:
    """Bound bias + matrix @ x over all x in 0..maximum: the extremes pick one sign each."""
    wide = matrix.astype(np.int64)
    low = bias + maximum * np.minimum(wide, 0).sum(axis=1)
    high = bias + maximum * np.maximum(wide, 0).sum(axis=1)
    return low, high


def _canonical_bytes(value: object) -> bytes:
    if isinstance(value, np.ndarray):
        little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return f"{little.dtype.str}{little.shape}".encode() + little.tobytes()
    return hashed_text(value).encode()
