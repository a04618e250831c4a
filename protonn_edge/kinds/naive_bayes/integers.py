"""Gaussian naive Bayes in integers: weighted squared distances of bytes from class means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntArray, IntegerStage, Range, check_bits, check_holds

SCORE_BITS = 32
TERM_SHIFT = 8  # reduces a term from 32 bits to 24


@dataclass(frozen=True, eq=False)
class IntegerNaiveBayes(IntegerStage):
    """Maps bytes to scores of 32 bits.

    Inputs q may have few bits; a shift makes them comparable with means of 8 bits::

        d_ci = |(q_i << shift) - means_ci|
        s_c = bias_c - sum_i ((d_ci d_ci weights_ci) >> 8)
    """

    kind: ClassVar[str] = "naive_bayes"

    # (L, D): the means of the classes, in steps of an input divided by ``1 << shift``
    means: NDArray[np.uint8]
    weights: NDArray[np.uint16]  # (L, D): inversely proportional to the variances
    bias: IntArray  # (L,): the scores at the means
    shift: int  # bits that an input lacks to be a byte
    input_maximum: int  # the largest input, 1..255

    def __post_init__(self) -> None:
        """Refuse numbers with which a distance or a score could overflow."""
        check_holds(
            self.shift >= 0 and self.input_maximum << self.shift <= 255,
            f"inputs up to {self.input_maximum}, shifted by {self.shift} bits",
            "shifted inputs of 0 to 255",
        )
        check_bits("scores", Range(self.output.low, self.bias), SCORE_BITS)

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(self.means.shape[1])

    @property
    def output_bits(self) -> int:
        """Bits of a score."""
        return SCORE_BITS

    @cached_property
    def output(self) -> Range:
        """The range of each score, with every input at its nearest or its farthest value."""
        below = np.minimum(self.means >> self.shift, self.input_maximum)
        above = np.minimum(below.astype(np.int64) + 1, self.input_maximum)
        nearest = np.minimum(self._terms(below), self._terms(above))
        farthest = np.maximum(self._terms(0), self._terms(self.input_maximum))
        return Range(self.bias - farthest.sum(axis=1), self.bias - nearest.sum(axis=1))

    def _terms(self, x: Any) -> IntArray:
        """Return the terms (L, D) of an input, or of inputs of this shape."""
        distances = (np.asarray(x, np.int64) << self.shift) - self.means
        return (distances * distances * self.weights) >> TERM_SHIFT

    def run(self, x: NDArray[Any]) -> IntArray:
        """Return the scores (n, L) of bytes (n, D)."""
        sums = [self._terms(point).sum(axis=1) for point in x]
        return self.bias - np.array(sums, np.int64).reshape(len(x), self.n_outputs)

    @cached_property
    def lines(self) -> tuple[bytes, ...]:
        """The table in flash, low bytes first: for each class the bias, then means and weights."""
        terms = np.zeros(self.means.shape, [("mean", "u1"), ("weight", "<u2")])
        terms["mean"], terms["weight"] = self.means, self.weights
        return tuple(
            bias.tobytes() + row.tobytes()
            for bias, row in zip(self.bias.astype("<i4"), terms, strict=True)
        )

    def parameters(self) -> Iterator[NDArray[Any]]:
        """Yield the table."""
        yield np.frombuffer(b"".join(self.lines), np.uint8)
