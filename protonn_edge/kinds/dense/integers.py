"""A hidden layer in integers: the sums of a matrix product, rectified and requantized to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.integer_stage import check_holds
from protonn_edge.model.layer import Scale
from protonn_edge.model.matvec import IntegerMatvec, packed
from protonn_edge.system.arrays import Array

MOST_UNITS = 255  # per layer; generated code counts them in a byte
MOST_MULTIPLIER = 0xFF
UNIT_SHIFT = 8  # a whole byte, which an 8-bit chip shifts without instructions


@dataclass(frozen=True, eq=False)
class IntegerDense(IntegerMatvec):
    """Maps bytes to bytes.

    Here a are the accumulators, of 16 or 24 bits, and h their upper 16 bits::

        a_k = bias_k + sum_i W_ki q_i
        v_k = max(h_k, 0) * multiplier >> 8               at most 255

    It also has the attributes of an `IntegerMatvec`.
    """

    kind: ClassVar[str] = "dense"
    widths: ClassVar[tuple[int, ...]] = (16, 24)
    value_type: ClassVar[type[np.integer[Any]]] = np.uint8

    multiplier: int  # 1..255

    def __post_init__(self) -> None:
        """Refuse numbers with which a sum could overflow, and layers that are too large."""
        super().__post_init__()
        multiplier, units = self.multiplier, self.n_sums
        fits = 1 <= multiplier <= MOST_MULTIPLIER
        check_holds(fits, f"the multiplier {multiplier:,}", f"1 to {MOST_MULTIPLIER:,}")
        check_holds(
            units <= MOST_UNITS, f"a hidden layer of {units:,} units", f"up to {MOST_UNITS}"
        )

    @cached_property
    def scale(self) -> Scale:
        """The conversion of sums to bytes."""
        upper = self.accumulator_bits - 16
        return Scale(self.accumulators, self.multiplier, UNIT_SHIFT, 0, BYTE_MAXIMUM, upper)

    def parameters(self) -> Iterator[Array]:
        """Yield W as the smaller table that a device can have: two weights per byte, or one."""
        yield packed(self.weights) if self.packs else self.weights
