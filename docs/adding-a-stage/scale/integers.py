"""The example in integers: its arithmetic, and the range of its output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.formulas import Operand
from protonn_edge.model.integer_stage import Range
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

FACTOR_BITS = 8


@dataclass(frozen=True, eq=False)
class IntegerScale(FeatureStage):
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
    value_type: ClassVar[type[np.integer[Any]]] = np.uint8

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
        """The range of each byte: the formula on intervals."""
        return Range.of(self.formula(Range.of_bytes(self.n_inputs, self.maximum).interval))

    def formula(self, x: Operand) -> Operand:
        """Return the scaled bytes (n, D) of bytes (n, D)."""
        return (x * self.factors) >> FACTOR_BITS

    def parameters(self) -> Iterator[Array]:
        """Yield the factors."""
        yield self.factors
