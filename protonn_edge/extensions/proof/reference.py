"""The model's own values as sums of tables: what the proof compares a program with.

A module of `stages` states each kind of stage: it registers a function with `forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, singledispatch

import numpy as np

from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.forms import (
    Root,
    SumForm,
    Unproven,
    constant,
    plus,
    scaled,
    single,
)
from protonn_edge.model.formulas import Operand, arrays_of
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.system.arrays import Array


class Reference:
    """What stages compute their forms with.

    Attributes
    ----------
    algebra : Algebra
        That of the program: equal sums have equal roots.
    ways : list of Root
        Roots that number the program's paths of several decisions, in their order; stages remove
        those that they use.
    """

    def __init__(self, algebra: Algebra, ways: Iterable[Root] = ()) -> None:
        self.algebra, self.ways = algebra, [*ways]

    def values(self, stages: Iterable[IntegerStage], inputs: list[SumForm]) -> list[SumForm]:
        """Return the values of the last of some stages; `Unproven` if one states no forms."""
        values = inputs
        for stage in stages:
            values = forms(stage, values, self)
        return values

    def products(self, weights: Array, bias: Array, inputs: list[SumForm]) -> list[SumForm]:
        """Return ``bias + W x`` for weights (d, D)."""
        sums = []
        for row, start in zip(weights.astype(np.int64), bias, strict=True):
            total = constant(int(start))
            for index in np.flatnonzero(row):
                total = plus(total, scaled(inputs[index], int(row[index])))
            sums.append(total)
        return sums

    def affine(self, compute: Callable[[Operand], Operand], inputs: list[SumForm]) -> list[SumForm]:
        """Return sums that are affine functions of bytes, (n, inputs) to (n, ...)."""
        units = np.eye(len(inputs) + 1, len(inputs), dtype=np.uint8)
        values = arrays_of(compute, units).reshape(len(units), -1).astype(np.int64)
        return self.products((values[:-1] - values[-1]).T, values[-1], inputs)

    def function(
        self, form: SumForm, formula: Callable[[Operand], Operand], dropped: int = 0
    ) -> SumForm:
        """Return a monotonic function of a value; of wide sums, without the lowest bits.

        Refuse a function that the lowest bits change.
        """
        compute = partial(arrays_of, formula)
        if not form.tables:
            return constant(int(compute(np.array([form.constant]))[0]))
        if form.root is not None:
            root, array = form.root, form.array()
        elif dropped and self.algebra.spread(form) > Algebra.WIDE:
            root, array = self.algebra.cut(form, dropped)
            array = array << dropped
            if (compute(array) != compute(array + (1 << dropped) - 1)).any():
                raise Unproven("the model uses bits of a sum that the program leaves out")
        else:
            root, array = self.algebra.cut(form)
        return self.algebra.reduced(single(root, compute(array)))


def one_of(channel: int, function: Callable[[Operand], Operand], sums: Operand) -> Operand:
    """Return a function's values (n,) of sums (n,) of one channel; each has its own numbers."""
    values = function(sums.op("Unsqueeze", [1]))
    return values[slice(channel, channel + 1),].op("Reshape", [-1])


@singledispatch
def forms(
    stage: IntegerStage,
    inputs: list[SumForm],  # noqa: ARG001
    reference: Reference,  # noqa: ARG001
) -> list[SumForm]:
    """Return a stage's values as sums of tables, of the sums that are its inputs.

    Raises `Unproven` if no module of `stages` states this kind of stage.
    """
    raise Unproven(f"the stage {stage.kind} states no sums")
