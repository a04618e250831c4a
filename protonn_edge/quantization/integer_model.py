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
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.errors import InputError
from protonn_edge.model.sizes import SizedByMatrices
from protonn_edge.quantization.hashed_names import hashed_name, hashed_text
from protonn_edge.stages.average_pooling.integers import PIXEL_MAXIMUM, IntegerAveragePooling
from protonn_edge.stages.average_pooling.pooling import AveragePooling
from protonn_edge.stages.decision.integers import IntegerDecision
from protonn_edge.stages.decision.rejection import UNKNOWN, IntegerRejection
from protonn_edge.stages.deskew.integers import IntegerDeskew
from protonn_edge.stages.input_quantizer.quantizer import InputQuantizer
from protonn_edge.stages.input_quantizer.raw_inputs import (
    FloatQuantizer,
    RawQuantizer,
    float_quantizer,
    raw_quantizer,
)
from protonn_edge.stages.input_quantizer.raw_units import Exponents
from protonn_edge.stages.integer_stage import IntArray, IntegerStage
from protonn_edge.stages.projection.integers import (
    IntegerProjection,
)
from protonn_edge.stages.prototypes.exponential import MAXIMUM_DISTANCE_SHIFT
from protonn_edge.stages.prototypes.integers import IntegerPrototypes
from protonn_edge.stages.window_features.integers import IntegerWindowFeatures
from protonn_edge.stages.window_features.stage import SAMPLE_MAXIMUM, WindowFeatureStage

_ROWS_AT_ONCE = 512  # keeps the (rows, m, d) differences in the cache and the memory bounded

MAXIMUM_MULTIPLIER = 0xFFFF
OFFSET_STEP = 1 << 8  # a coordinate's offset has no lowest byte, which would take time to add
REQUANTIZED_LIMIT = (1 << 31) - (1 << 24)  # 32 bits, with room for the least coordinate
ACCUMULATOR_BITS = (16, 24)
# What firmware/model.h and the serial protocol count.
MOST_FEATURES = 65_000
MODEL_HASH_BYTES = 8  # of the SHA-256, what firmware knows its model by
UNHASHED = ("raw_exponents", "feature_names")  # fields that no score depends on

_HALF = 1 << 15


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
        largest = self.pooling.area * PIXEL_MAXIMUM * self.pooling_multiplier
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
        finer = self.inputs.maximum / PIXEL_MAXIMUM
        zero, step = float(self.inputs.zero[0]), float(self.inputs.step[0]) * finer
        n = self.n_features
        return InputQuantizer(np.full(n, zero), np.full(n, step), PIXEL_MAXIMUM)

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

    @property
    def pooling_multiplier(self) -> int:
        """What brings the sum of an area to 0..maximum, in units of 2**-16; 0 if none is made."""
        if self.pooling is None:
            return 0
        return round(self.inputs.maximum * 65_536 / (PIXEL_MAXIMUM * self.pooling.area))

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

    @cached_property
    def feature_stages(self) -> tuple[IntegerStage, ...]:
        """What makes the projection's inputs of what the device is fed."""
        if self.window_features is not None:
            return (IntegerWindowFeatures(self.window_features, raw_quantizer(self.inputs)),)
        if self.pooling is None:
            return ()
        maximum = self.inputs.maximum
        if self.pooling.deskewed is None:
            return (IntegerAveragePooling(self.pooling, maximum),)
        cropped = replace(self.pooling, image_shape=self.pooling.cropped_shape, deskewed=None)
        pooling = IntegerAveragePooling(cropped, maximum, by_rows=True)
        return (IntegerDeskew(self.pooling), pooling)

    @cached_property
    def projection_stage(self) -> IntegerProjection:
        """From bytes to coordinates, in the range that the prototypes want."""
        unfed = IntegerPrototypes(self.prototypes, self.distance_shift, self.table, self.labels)
        return IntegerProjection(
            self.projection,
            self.bias,
            self.accumulator_bits,
            self.multiplier,
            self.offset,
            self.inputs.maximum,
            unfed.wanted,
        )

    @cached_property
    def prototypes_stage(self) -> IntegerPrototypes:
        """From coordinates to scores."""
        return IntegerPrototypes(
            self.prototypes,
            self.distance_shift,
            self.table,
            self.labels,
            self.projection_stage.output,
            self.rejection is not None and self.rejection.rbf > 0,
        )

    @cached_property
    def stages(self) -> tuple[IntegerStage, ...]:
        """All stages, from what the device is fed to the class."""
        head = self.prototypes_stage
        decision = IntegerDecision(head.output, head.score_bits, self.rejection)
        return (*self.feature_stages, self.projection_stage, head, decision)

    def projection_inputs(self, Q: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the projection's inputs, (n, D), of what the device is fed, both uint8."""
        for stage in self.feature_stages:
            Q = stage.run(Q)
        return Q

    def project(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the projections p, (n, d) in -128..127, of the projection's inputs Q, (n, D)."""
        return self.projection_stage.run(Q)

    def rbf_values(self, P: IntArray) -> IntArray:
        """Return the table's values e, (n, m) in 0..127, of projections P, (n, d)."""
        return self.prototypes_stage.rbf(P)

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
        for begin in range(0, len(Q), _ROWS_AT_ONCE):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            P = self.project(self.projection_inputs(Q[part]))
            scores[part], nearest[part] = self.prototypes_stage.scores_and_nearest(P)
        return scores, nearest

    def answers(self, Q: NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
        """Return classes (n,) and scores (n, L), both int64, of quantized inputs Q.

        Ties go to the lower index. A point that is rejected has the class `UNKNOWN`, 255, and its
        scores all the same.
        """
        scores, nearest = self.scores_and_nearest(Q)
        decision = self.stages[-1]
        assert isinstance(decision, IntegerDecision)
        return decision.classes(scores, nearest), scores

    def predict(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the class index, (n,) int64, of quantized inputs Q; see `answers`."""
        return self.answers(Q)[0]

    def accumulator_range(self) -> tuple[int, int]:
        """Return the least and the largest accumulator that any input can give."""
        return self.projection_stage.accumulators.ends

    @property
    def clamps(self) -> bool:
        """Whether some input pushes a coordinate of the projection out of 8 bits."""
        return self.projection_stage.clamps

    @property
    def distance_limit(self) -> int:
        """The squared distance at which a prototype begins to be far."""
        return self.prototypes_stage.distance_limit

    @property
    def score_bits(self) -> int:
        """Bits of a score, 16 or 32: the least that hold it on any input."""
        return self.prototypes_stage.score_bits

    def score_range(self) -> tuple[int, int]:
        """Return bounds of the scores on any input."""
        return self.prototypes_stage.output.ends


def check_counts(features: int, projections: int, prototypes: int, classes: int) -> None:
    """Raise `InputError` for sizes that the generated code's counters cannot hold."""
    for number, limit, name in (
        (features, MOST_FEATURES, "features"),
        (projections, 255, "projections"),
        (prototypes, 65_535, "prototypes"),
        (classes, 255, "classes"),
    ):
        if number > limit:
            raise InputError(
                f"the model has {number:,} {name}, generated code counts up to {limit:,}; train a "
                "smaller one"
            )


def _canonical_bytes(value: object) -> bytes:
    if isinstance(value, np.ndarray):
        little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return f"{little.dtype.str}{little.shape}".encode() + little.tobytes()
    return hashed_text(value).encode()
