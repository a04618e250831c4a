"""The prototypes in integers: squared distances, a table for the exponential, and votes.

A table replaces the exponential. Coordinates are bytes, so squared distances are integers; 256 RBF
values cover all distances at which the kernel is not negligible. The step of the coordinates is
chosen so that the table ends at a power of two, ``2**(8 + distance_shift)``. A shift then gives the
index; and a sum that starts at 2**16 minus this power carries as soon as a prototype is beyond the
end. All models share one table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.projection.integers import (
    COORDINATE_MAXIMUM,
    COORDINATE_MINIMUM,
    REQUANTIZE_SHIFT,
    IntegerProjection,
)
from protonn_edge.kinds.protonn.prototypes.voters import Voters
from protonn_edge.model import integer_stage
from protonn_edge.model.checks import set_checked
from protonn_edge.model.formulas import Operand, arrays_of, matrix_products
from protonn_edge.model.matvec import range_of_products
from protonn_edge.model.nearness import NearestStage, Nearness
from protonn_edge.system.arrays import Array

TABLE_SIZE = 256

# Scores are 16-bit sums of products, so a bit more here is a bit less in the labels. With 127, both
# have about the same rounding errors.
RBF_MAXIMUM = 127
MAXIMUM_DISTANCE_SHIFT = 6  # so that prototypes that differ by more than a signed byte are far

# The table ends where the kernel has fallen to 1/128. Prototypes beyond it would add next to
# nothing to a score, but each would cost time. On USPS, a table up to 1/255 costs 6 % more cycles,
# and a table up to 1/64 changes the class of another 1 % of the digits; with 1/128 the integers
# agree with the floats as well as with 1/255.
RBF_CUTOFF = 1 / 128
EXPONENT_LIMIT = -math.log(RBF_CUTOFF)
_BINS_PER_EXPONENT = TABLE_SIZE / EXPONENT_LIMIT


def distance_step(distance_shift: int) -> float:
    """Return the length of a step of the projection's coordinates, in units of 1/gamma."""
    return math.sqrt(EXPONENT_LIMIT / (TABLE_SIZE << distance_shift))


def rbf_of_squares(squares: Array, distance_shift: int) -> NDArray[np.float64]:
    """Return the exact kernel, at most 1, of squared distances in steps."""
    return np.exp(squares * -(distance_step(distance_shift) ** 2))


@cache
def exponential_table() -> NDArray[np.uint8]:
    """Return 127 exp(-t), rounded, at the middle of each of 256 bins of t from 0 to ln(128)."""
    centre = (np.arange(TABLE_SIZE) + 0.5) / TABLE_SIZE * EXPONENT_LIMIT
    table: NDArray[np.uint8] = np.rint(RBF_MAXIMUM * np.exp(-centre)).astype(np.uint8)
    table.flags.writeable = False
    return table


_TABLE_AND_BEYOND = (np.append(exponential_table(), 0) / RBF_MAXIMUM).astype(np.float32)


def cut_rbf(exponents: NDArray[np.float32], kernel: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the unrounded `tabulated_rbf`: ``exp(-exponents)``, 0 from the table's end on."""
    cut: NDArray[np.float32] = kernel * (exponents < np.float32(EXPONENT_LIMIT))
    return cut


def tabulated_rbf(
    exponents: NDArray[np.float32],
    _kernel: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Return the table's values for squared distances in units of 1/gamma, as shares of 127.

    They approximate ``exp(-exponents)`` in steps of 1/127, and are 0 beyond the table's end.
    """
    bins = np.minimum(exponents * np.float32(_BINS_PER_EXPONENT), np.float32(TABLE_SIZE))
    values: NDArray[np.float32] = _TABLE_AND_BEYOND.take(bins.astype(np.int32))
    return values


_PROTOTYPES_IN_PAIRS = 8_192  # all their pairs take a second
_STEPS = 30  # steps of the descent to inputs near a prototype
_ROWS_AT_ONCE = 512  # keeps (rows, m, d) differences in the cache and bounds memory


@dataclass(frozen=True, eq=False)
class IntegerPrototypes(NearestStage):
    """Maps coordinates p, signed bytes, to scores of 16 or 32 bits.

    ::

        r_j = sum_k (p_k - B_kj)^2                        "far" from 2^(8 + distance_shift) on
        e_j = table[r_j >> distance_shift], or 0 where prototype j is far
        s_l = sum_j Z_lj e_j

    `voters` add more to the scores, if there are any.
    """

    kind: ClassVar[str] = "prototypes"

    prototypes: NDArray[np.int8]  # (d, m): B
    distance_shift: int  # 0..6
    # (256,): the radial basis function (RBF) by the squared distance, shifted
    table: NDArray[np.uint8]
    labels: NDArray[np.int8]  # (L, m): Z
    # the range of the coordinates
    feed: integer_stage.Range
    gives_nearest: bool = False  # whether the decision also needs the largest RBF
    voters: Voters | None = None  # what votes beside the prototypes
    n_new_classes: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Refuse a shift that does not match the table, and voters that do not fit the sizes."""
        integer_stage.check_counts(prototypes=self.n_prototypes)
        shift = self.distance_shift
        fits, most = 0 <= shift <= MAXIMUM_DISTANCE_SHIFT, MAXIMUM_DISTANCE_SHIFT
        integer_stage.check_holds(fits, f"a distance shift of {shift}", f"0 to {most}")
        if self.voters is not None:
            self.voters.check(self.n_inputs, self.n_outputs)
            set_checked(self, "n_new_classes", self.voters.new_classes)

    @property
    def n_inputs(self) -> int:
        """d."""
        return int(self.prototypes.shape[0])

    @property
    def n_prototypes(self) -> int:
        """m."""
        return int(self.prototypes.shape[1])

    @property
    def n_outputs(self) -> int:
        """L."""
        return int(self.labels.shape[0])

    @property
    def distance_limit(self) -> int:
        """The squared distance at and beyond which a prototype is far."""
        return TABLE_SIZE << self.distance_shift

    @cached_property
    def output(self) -> integer_stage.Range:
        """The range of each score.

        Two bounds hold, and the tighter one is used for each class: the sum of its label entries of
        one sign times the largest value of the table, and the norm of the score (see
        `score_norms`). Other voters add to the largest score, since all of them may be of one class
        and at the point.
        """
        none = np.zeros(self.n_outputs, np.int64)
        sums = range_of_products(self.labels, none, int(self.table.max()))
        norms = score_norms(self.labels, self.prototypes, self.table, self.distance_shift)
        limit = np.minimum(norms, 1 << 62).astype(np.int64)
        high = np.minimum(sums.high, limit)
        if self.voters is not None:
            high = high + self.voters.largest * int(self.table.max())
        return integer_stage.Range(np.maximum(sums.low, -limit), high)

    @property
    def nearness(self) -> Nearness:
        """Of a prototype's own place, and of the table's largest RBF."""
        return Nearness(RBF_MAXIMUM, int(self.table.max()))

    def giving_nearest(self, needed: bool) -> IntegerPrototypes:
        """Return the stage as a decision needs it: with the largest RBF, or without it."""
        return self if self.gives_nearest == needed else replace(self, gives_nearest=needed)

    def example_inputs(
        self, before: Sequence[integer_stage.IntegerStage], start: NDArray[np.uint8], count: int, /
    ) -> integer_stage.IntArray:
        """Return inputs (count, D) that are projected near prototypes; others would score 0."""
        (projection,) = before
        assert isinstance(projection, IntegerProjection)
        B = self.prototypes.T.astype(np.int64)
        pairs = ((j := n * len(B) // count, (j + 1 + n) % len(B)) for n in range(count))
        targets = ((3 * B[one] + B[other]) >> 2 for one, other in pairs)  # a quarter of the way
        return np.array([_inputs_near(projection, start, target) for target in targets], np.int64)

    def similarities(self, x: Operand) -> Operand:
        """Return the table's values e, (n, m) in 0..127, of points (n, d)."""
        squares = x.squared_distances(self.prototypes.T)
        return read_table(self.table, squares >> self.distance_shift)

    def formula(self, x: Operand) -> Operand:
        """Return the scores (n, L) of points (n, d), for which only prototypes vote."""
        return self.similarities(x).product(self.labels)

    def run_with_nearest(self, x: Array) -> tuple[integer_stage.IntArray, integer_stage.IntArray]:
        """Return the scores (n, L) of points x, (n, d), and the nearest prototype's RBF, (n,)."""
        scores = np.zeros((len(x), self.n_outputs), np.int64)
        nearest = np.zeros(len(x), np.int64)
        for begin in range(0, len(x), _ROWS_AT_ONCE):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            values = arrays_of(self.similarities, x[part])
            scores[part] = matrix_products(values, self.labels.T)
            nearest[part] = values.max(axis=1)
            if self.voters is not None:
                values, votes = self.voters.votes(self, x[part])
                scores[part] += votes
                nearest[part] = np.maximum(nearest[part], values.max(axis=1, initial=0))
        return scores, nearest

    def parameters(self) -> Iterator[Array]:
        """Yield B and Z."""
        yield self.prototypes
        yield self.labels


def read_table(table: NDArray[np.uint8], places: Operand) -> Operand:
    """Return a table's values, and 0 beyond its end."""
    entries = places.constant(np.append(table, 0))
    return entries.op("Gather", places.op("Min", len(table)))


def all_coordinates(dimension: int) -> integer_stage.Range:
    """Return the range of d coordinates of a signed byte."""
    low, high = (np.full(dimension, end) for end in (COORDINATE_MINIMUM, COORDINATE_MAXIMUM))
    return integer_stage.Range(low, high)


def near_range(prototypes: NDArray[np.int8], distance_shift: int) -> integer_stage.Range:
    """Return the range of coordinates outside of which a point is far from all prototypes."""
    radius = math.isqrt((TABLE_SIZE << distance_shift) - 1) + 1
    B = prototypes.astype(np.int64)
    low = np.maximum(COORDINATE_MINIMUM, B.min(axis=1) - radius)
    high = np.minimum(COORDINATE_MAXIMUM, B.max(axis=1) + radius)
    return integer_stage.Range(low, high)


def score_norms(
    labels: NDArray[np.int8],
    prototypes: NDArray[np.int8],
    table: NDArray[np.uint8],
    distance_shift: int,
) -> NDArray[np.float64]:
    """Bound the magnitude of each class's score over all points of the projected space.

    With exact kernels ``k_j(p) = A exp(-c ||p - b_j||^2)`` a score ``sum_j z_j k_j`` is a function
    in the Gaussian RBF's Hilbert space, and so nowhere larger than its norm there, which is the
    square root of ``A^2 sum_ij z_i z_j exp(-c ||b_i - b_j||^2)`` (Aronszajn, 1950). An entry of the
    table differs from the exact kernel by at most some E, so a score differs by at most E sum_j
    |z_j|.

    Returns whole numbers (L,), with a margin of 1 for float rounding, or infinity if there are too
    many prototypes to examine all pairs.
    """
    Z, B = labels.astype(np.float64), prototypes.astype(np.float64)
    if B.shape[1] > _PROTOTYPES_IN_PAIRS:
        return np.full(len(Z), np.inf)
    r = np.arange((TABLE_SIZE << distance_shift) + 1)
    entries = np.append(table, 0).astype(np.float64)[r >> distance_shift]
    error = float(np.abs(entries - RBF_MAXIMUM * rbf_of_squares(r, distance_shift)).max())
    energy = np.maximum((Z * unrounded_scores(Z, B, B, distance_shift)).sum(axis=1), 0.0)
    norms = RBF_MAXIMUM * np.sqrt(energy) + error * np.abs(Z).sum(axis=1)
    bound: NDArray[np.float64] = np.ceil(norms * (1 + 1e-9)) + 1
    return bound


def unrounded_scores(
    labels: NDArray[np.float64],
    prototypes: Array,
    points: Array,
    distance_shift: int,
) -> NDArray[np.float64]:
    """Return ``sum_j z_j k(b_j, p)`` by the exact kernel, at most 1: (L, n) for points p (d, n).

    Labels are (L, m), prototypes (d, m).
    """
    B, P = prototypes.astype(np.float64), points.astype(np.float64)
    of_prototypes, of_points = np.square(B).sum(axis=0)[:, None], np.square(P).sum(axis=0)
    scores = np.empty((len(labels), P.shape[1]))
    for begin in range(0, P.shape[1], _ROWS_AT_ONCE):
        some = slice(begin, begin + _ROWS_AT_ONCE)
        squares = of_prototypes + of_points[some] - 2.0 * (B.T @ P[:, some])
        scores[:, some] = labels @ rbf_of_squares(squares, distance_shift)
    return scores


def _inputs_near(
    projection: IntegerProjection, start: NDArray[np.uint8], target: integer_stage.IntArray
) -> integer_stage.IntArray:
    """Descend the gradient of the squared distance to a target; return inputs (D,)."""
    W = projection.weights.astype(np.int64)
    maximum = projection.input_maximum
    inputs = start.astype(np.float64)
    for _ in range(_STEPS):
        rounded = np.rint(inputs).astype(np.uint8)
        missing = target - projection.run(rounded[None, :])[0]
        gradient = W.T @ missing  # integers: the same in any order of summation
        inside = np.where(gradient > 0, inputs < maximum, inputs > 0)
        gradient = np.where(inside, gradient, 0)
        effect = (W @ gradient).tolist()
        curvature = sum(each * each for each in effect)
        if curvature == 0:
            break
        slope = sum(a * b for a, b in zip(missing.tolist(), effect, strict=True))
        # Coordinates are accumulators times multiplier / 2**16, or 2**24 for 24-bit ones.
        unit = projection.multiplier / (1 << (REQUANTIZE_SHIFT + projection.accumulator_bits - 16))
        inputs = np.clip(inputs + slope / curvature / unit * gradient, 0, maximum)
    return np.rint(inputs).astype(np.int64)
