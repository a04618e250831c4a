"""Linear scores in integers: the sums of a matrix product, or one sum for two classes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from protonn_edge.model.formulas import Operand
from protonn_edge.model.integer_stage import Range, check_bits
from protonn_edge.model.matvec import IntegerMatvec


@dataclass(frozen=True, eq=False)
class IntegerLinear(IntegerMatvec):
    """Maps bytes to scores of 16 or 32 bits.

    Here a are the accumulators, of 16, 24 or 32 bits::

        a_k = bias_k + sum_i W_ki q_i
        s_l = a_l; of two classes, with one row of weights: s_0 = -a_0, s_1 = a_0

    It has the attributes of an `IntegerMatvec`; a row that is `alone` has one score.
    """

    kind: ClassVar[str] = "linear"
    widths: ClassVar[tuple[int, ...]] = (16, 24, 32)

    scale: ClassVar[None] = None

    alone: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse numbers with which a sum or a score could overflow."""
        super().__post_init__()
        check_bits("scores", self.output, self.output.least_bits)

    @property
    def n_outputs(self) -> int:
        """L."""
        return self.n_sums if self.alone else max(2, self.n_sums)

    @cached_property
    def output(self) -> Range:
        """The range of each score, in 16 bits for sums of 16 bits, otherwise in 32."""
        return replace(super().output, least_bits=16 if self.accumulator_bits == 16 else 32)

    def scaled(self, sums: Operand) -> Operand:
        """Return the scores of sums."""
        return sums if self.n_outputs == self.n_sums else sums @ [[-1, 1]]
