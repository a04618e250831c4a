"""Kinds that score points by known ones, and so know how near a point is to the nearest of them.

Far from all known points, such as prototypes, their scores are low. Of other kinds, every point is
as near as any other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.checks import Float64
from protonn_edge.model.formulas import Operand
from protonn_edge.model.head import Head
from protonn_edge.model.integer_stage import IntArray, IntegerStage
from protonn_edge.system.arrays import Array


class Nearness(NamedTuple):
    """The integers that a stage gives as nearness: of a known point itself, and the largest."""

    unit: int
    maximum: int


class NearestHead(Head):
    """The float form of such a kind.

    It may have a single class: a one-class model separates points near known ones from others.
    """

    @abstractmethod
    def scores_and_nearest(self, X: Float64) -> tuple[Float64, Float64]:
        """Return the scores (n, L) of normalized points, and their nearness (n,), 0..1."""

    def scores(self, X: Array) -> Float64:
        """Return the scores (n, L) of normalized points X (n, D)."""
        return self.scores_and_nearest(X)[0]


class NearestStage(IntegerStage):
    """The last stage of its integer chain."""

    n_new_classes: int  # last classes that score 0 until a device has learned points of them

    @property
    @abstractmethod
    def nearness(self) -> Nearness:
        """The integers that stand for nearness."""

    @abstractmethod
    def giving_nearest(self, needed: bool) -> NearestStage:
        """Return the stage as a decision needs it: with the nearness, or without it."""

    @abstractmethod
    def similarities(self, x: Operand) -> Operand:
        """Return how near inputs are to each known point, (n, m): a part of the formula."""

    def nearest(self, x: Operand) -> Operand:
        """Return how near the nearest known point is, (n, 1)."""
        return self.similarities(x).op("ReduceMax", [1])

    @abstractmethod
    def run_with_nearest(self, x: Array) -> tuple[IntArray, IntArray]:
        """Return the scores (n, L) of inputs, and how near (n,) the nearest known point is."""

    def run(self, x: Array) -> IntArray:
        """Return the scores (n, L)."""
        return self.run_with_nearest(x)[0]

    @abstractmethod
    def example_inputs(
        self, before: Sequence[IntegerStage], start: NDArray[np.uint8], count: int, /
    ) -> IntArray:
        """Return inputs (count, D) of the chain near known points; others would score 0."""


def nearness_of(stage: IntegerStage) -> Nearness:
    """Return the integers that stand for nearness; without such a measure, all give 0."""
    return stage.nearness if isinstance(stage, NearestStage) else Nearness(1, 0)
