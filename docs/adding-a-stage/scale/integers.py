"""The example in integers: its arithmetic, and the range of its output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.integer_stage import IntegerStage, Range
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

FACTOR_BITS = 8


@dataclass(frozen=True, eq=False)
class IntegerScale(IntegerStage):
    """Scales bytes b to bytes q.

    ::

        q_i = (b_i * factor_i) >> 8

    Attributes
    ----------
    factors : ndarray of shape (D,), uint8
        In units of 1/256.
    maximum : int
        The largest input, 1..255.

    Raises
    ------
    InputError
        If the largest input does not fit a byte.
    """

    kind: ClassVar[str] = "scale"

    factors: NDArray[np.uint8]
    maximum: int

    def __post_init__(self) -> None:
        if not 1 <= self.maximum <= 255:
            raise InputError(
                f"inputs of up to {self.maximum} do not fit a byte; use a maximum of 1 to 255"
            )

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(self.factors.size)

    @property
    def n_outputs(self) -> int:
        """D."""
        return int(self.factors.size)

    @property
    def output(self) -> Range:
        """The range of each byte; inputs of 0 and of the maximum reach its ends."""
        highest = self.factors.astype(np.int64) * self.maximum >> FACTOR_BITS
        return Range(np.zeros_like(highest), highest)

    def run(self, x: Array) -> NDArray[np.uint8]:
        """Return the scaled bytes (n, D) of bytes (n, D)."""
        products = x.astype(np.uint16) * self.factors
        return (products >> FACTOR_BITS).astype(np.uint8)

    def parameters(self) -> Iterator[Array]:
        """Yield the factors."""
        yield self.factors
