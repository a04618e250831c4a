"""A cascade in integers: one stage that consists of the stages of two models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.cascades.kinds.cascade.head import margins
from protonn_edge.model.formulas import Operand
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_stage import (
    IntArray,
    IntegerStage,
    Range,
    check_bits,
    check_holds,
    formula_through,
    run_through,
)
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range

MOST_FACTOR = 255

Vectors = tuple[NDArray[np.float64], ...]


@dataclass(frozen=True, eq=False)
class PartStages:
    """The stages of one of the two models, from its inputs to its scores."""

    stages: tuple[IntegerStage, ...]
    n_before: int = field(repr=False)  # stages that compute features

    @property
    def output(self) -> Range:
        """The range of its scores."""
        return self.stages[-1].output

    @property
    def largest_margin(self) -> int:
        """The largest difference of two scores that generated code holds."""
        return int((1 << self.stages[-1].output.bits) - 1)


@dataclass(frozen=True, eq=False)
class IntegerCascade(IntegerStage):
    """Maps bytes to the scores of the first model, or of the second where the first is not sure.

    With s and t the scores of the two models, and m the difference of the two largest s::

        score_l = first_factor s_l                        if m >= margin
        score_l = second_factor t_l                       otherwise
        score_l = first_factor s_l + second_factor t_l    otherwise, if it adds
    """

    kind: ClassVar[str] = "cascade"

    first: PartStages
    second: PartStages
    margin: int
    first_factor: int
    second_factor: int
    adds: bool = False

    def __post_init__(self) -> None:
        """Refuse models that do not fit together, and scores that could overflow."""
        one, other = self.first, self.second
        for name, here, there in (
            ("inputs", one.stages[0].n_inputs, other.stages[0].n_inputs),
            ("scores", len(one.output.low), len(other.output.low)),
        ):
            check(here == there, f"the second model's {name}", f"{there:,}", f"{here:,}")
        check_holds(len(one.output.low) > 1, "a cascade of one class", "at least two classes")
        check_range("the cascade's margin", self.margin, 1, one.largest_margin)
        for factor in (self.first_factor, self.second_factor):
            check_range("a cascade's factor", factor, 1, MOST_FACTOR)
        check_bits("scores of a cascade", self.output, 32)
        check_bits("a cascade's second scores", self._others, 32)

    @property
    def n_inputs(self) -> int:
        """D."""
        return self.first.stages[0].n_inputs

    @property
    def quantizer(self) -> InputQuantizer | None:
        """What converts computed features as raw values are converted; None without such ones."""
        stages = (*self.first.stages, *self.second.stages)
        found = (getattr(stage, "quantizer", None) for stage in stages)
        return next(filter(None, found), None)

    @cached_property
    def output(self) -> Range:
        """The range of each score, in bits that also hold what is added to it."""
        s, others = self.first.output, self._others
        low, high = self.first_factor * s.low, self.first_factor * s.high
        other_low, other_high = others.low, others.high
        if self.adds:
            other_low, other_high = other_low + low, other_high + high
        bits = others.bits
        return Range(np.minimum(low, other_low), np.maximum(high, other_high), bits)

    @property
    def _others(self) -> Range:
        """The range of the second model's scores, times their factor."""
        t = self.second.output
        return Range(self.second_factor * t.low, self.second_factor * t.high)

    def formula(self, x: Operand) -> Operand:
        """Return the scores (n, L) of bytes (n, D): both models compute, and one is chosen."""
        first, second = (formula_through(part.stages, x) for part in (self.first, self.second))
        largest = first.op("ReduceMax", [1])
        best = first.op("ArgMax", axis=1).op("Equal", list(range(len(self.output.low))))
        others = best.op("Where", self.first.output.ends[0], first)
        sure, unsure = first * self.first_factor, second * self.second_factor
        if self.adds:
            unsure = unsure + sure
        lead = largest - others.op("ReduceMax", [1])
        return lead.op("Less", self.margin).op("Where", unsure, sure)

    def run(self, x: Array) -> IntArray:
        """Return the scores of the formula; the second model computes only where it is asked."""
        s = run_through(self.first.stages, x).astype(np.int64)
        unsure = margins(s) < self.margin
        scores: IntArray = self.first_factor * s
        if unsure.any():
            t = run_through(self.second.stages, x[unsure]).astype(np.int64)
            others = self.second_factor * t
            scores[unsure] = scores[unsure] + others if self.adds else others
        return scores

    def parameters(self) -> Iterator[Array]:
        """Yield the learned arrays of both models."""
        for part in (self.first, self.second):
            for stage in part.stages:
                yield from stage.parameters()
