"""The example in integers: its arithmetic, and the range of its scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.formulas import Operand
from protonn_edge.model.integer_stage import IntegerStage, Range, check_bits
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_range


@dataclass(frozen=True, eq=False)
class IntegerNearestMean(IntegerStage):
    """Maps bytes x to scores of 32 bits.

    ::

        s_l = -sum_i weights_i |x_i - means_li|

    Attributes
    ----------
    weights : ndarray of shape (D,), uint8
    means : ndarray of shape (L, D), uint8
    maximum : int
        The largest input and mean, 1..255.

    Raises
    ------
    InputError
        If a mean is larger, or a score does not fit 32 bits.
    """

    kind: ClassVar[str] = "nearest_mean"

    weights: NDArray[np.uint8]
    means: NDArray[np.uint8]
    maximum: int

    def __post_init__(self) -> None:
        check_range("a mean", int(self.means.max()), 0, self.maximum)
        check_bits("scores", self.output, 32)

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(self.weights.size)

    @cached_property
    def output(self) -> Range:
        """The range of each score: 0 at the mean, and least at the end that is farther from it."""
        farthest = np.maximum(self.means, self.maximum - self.means.astype(np.int64))
        low = -(farthest @ self.weights.astype(np.int64))
        return Range(low, np.zeros_like(low), least_bits=32)

    def formula(self, x: Operand) -> Operand:
        """Return the scores (n, L) of bytes (n, D)."""
        distances = (x.op("Unsqueeze", [1]) - self.means).op("Abs")
        return (distances * self.weights).op("ReduceSum", [2], keepdims=0) * -1

    def parameters(self) -> Iterator[Array]:
        """Yield the weights and the means."""
        yield self.weights
        yield self.means
