"""The integer model of a ProtoNN classifier, and its arithmetic from end to end.

A point is D unsigned bytes ``q`` (see `InputQuantizer`), or, with average pooling, an image of
more of them, ``b``, of which the device makes D averages first::

    v_i = sum_n weight_in b_n                         16 bits, never overflows
    q_i = (v_i * multiplier + 2^15) >> 16             0..maximum

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

Each stage computes and proves its own line of it; see `projection` and `prototypes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_chain import IntegerChain, check_counts
from protonn_edge.chain.integer_stage import IntArray, IntegerStage
from protonn_edge.chain.sizes import SizedByMatrices
from protonn_edge.kinds.protonn.near_prototypes import inputs_near_prototypes
from protonn_edge.kinds.protonn.projection.integers import IntegerProjection
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes


@dataclass(frozen=True, kw_only=True)
class IntegerModel(SizedByMatrices, IntegerChain):
    """All integers of a quantized ProtoNN model; see the module's text for the arithmetic.

    Attributes
    ----------
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
    """

    projection: NDArray[np.int8]
    bias: IntArray
    accumulator_bits: int
    multiplier: int
    offset: IntArray
    prototypes: NDArray[np.int8]
    distance_shift: int
    table: NDArray[np.uint8]
    labels: NDArray[np.int8]

    def __post_init__(self) -> None:
        check_counts(projections=self.n_projections, prototypes=self.n_prototypes)
        super().__post_init__()
        self.projection_stage  # noqa: B018  (refuses what could overflow)

    @cached_property
    def projection_stage(self) -> IntegerProjection:
        """From bytes to coordinates, in the range that the prototypes want."""
        unfed = IntegerPrototypes(self.prototypes, self.distance_shift, self.table, self.labels)
        return IntegerProjection(
            self.projection,
            self.bias,
            self.accumulator_bits,
            self.inputs.maximum,
            self.multiplier,
            self.offset,
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

    @property
    def own_stages(self) -> tuple[IntegerStage, ...]:
        """The projection and the prototypes."""
        return self.projection_stage, self.prototypes_stage

    def _largest(self) -> int:
        return int(self.table.max())

    def _scored(self, x: NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
        return self.prototypes_stage.scores_and_nearest(self.project(x))

    def project(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the projections p, (n, d) in -128..127, of the projection's inputs Q, (n, D)."""
        return self.projection_stage.run(Q)

    def rbf_values(self, P: IntArray) -> IntArray:
        """Return the table's values e, (n, m) in 0..127, of projections P, (n, d)."""
        return self.prototypes_stage.rbf(P)

    def example_inputs(self, start: NDArray[np.uint8], count: int) -> IntArray:
        """Return inputs (count, D) that are projected near prototypes; others have scores of 0."""
        return inputs_near_prototypes(self.projection_stage, self.prototypes, start, count)

    def accumulator_range(self) -> tuple[int, int]:
        """Return the least and the largest accumulator that any input can give."""
        return self.projection_stage.accumulators.ends

    @property
    def distance_limit(self) -> int:
        """The squared distance at which a prototype begins to be far."""
        return self.prototypes_stage.distance_limit
