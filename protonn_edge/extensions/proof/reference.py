"""The model's own values as sums of tables: what the proof compares a program with.

The formula of a stage gives them, on `TableSums`. Where that is not enough, a module that `stages`
imports registers a function with `forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial, reduce, singledispatch
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from protonn_edge.model.formulas import (
    OPERATORS,
    IntArray,
    NoFormula,
    Operand,
    SlidingWindow,
    arrays_of,
)
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


@singledispatch
def forms(stage: IntegerStage, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return a stage's values as sums of tables, of the sums that are its inputs.

    By default they follow from its formula. Raises `Unproven` if that uses other operators than
    those of `TableSums`, and nothing is registered for this kind of stage.
    """
    try:
        made = stage.formula(TableSums(reference, _vector(inputs)[None]))
    except NoFormula as without:
        raise Unproven(f"the stage {stage.kind} states no sums") from without
    assert isinstance(made, TableSums)
    return list(made.values().ravel())


Forms = NDArray[Any]
"""Sums of tables, each a `SumForm`."""


@dataclass(frozen=True, eq=False)
class TableSums(Operand):
    """Values of one point, (1, ...): sums of tables, or a function of each sum."""

    reference: Reference
    sums: Forms
    # what the value at a place is, given the sum there; None if it is the sum
    function: Callable[[tuple[int, ...], Operand], Operand] | None = None
    dropped: int = 0  # the number of lowest bits on which the function does not depend

    def values(self) -> Forms:
        """Return the values as sums of tables."""
        if self.function is None:
            return self.sums
        function, dropped = self.function, self.dropped
        made = (
            self.reference.function(each, partial(function, place), dropped)
            for place, each in zip(np.ndindex(self.sums.shape), self.sums.ravel(), strict=True)
        )
        return _vector(made).reshape(self.sums.shape)

    def op(self, operator: str, *others: Any, **attributes: Any) -> TableSums:
        """Apply an operator of ONNX; `NoFormula` if sums of tables have none."""
        if operator == "Cast":
            return self
        if operator in ("Reshape", "Transpose", "Slice"):
            moved = OPERATORS[operator](self.values(), *others, **attributes)
            return TableSums(self.reference, moved)
        if operator in ("ReduceMax", "ReduceSum"):
            join = self.reference.algebra.maximum if operator == "ReduceMax" else plus
            return self._joined(join, *others, **attributes)
        if operator == "MatMul":
            return self._matrix_product(*others)
        if operator == "Add" and self.function is None and not isinstance(others[0], Operand):
            more = np.broadcast_to(others[0], self.sums.shape).ravel().tolist()
            pairs = zip(self.sums.ravel(), map(constant, more), strict=True)
            added = _vector(plus(*pair) for pair in pairs)
            return TableSums(self.reference, added.reshape(self.sums.shape))
        if operator in ("Add", "Sub", "Mul", "Mod", "Max", "Min", "Clip"):
            return self._applied(lambda x, *rest: x.op(operator, *rest), *others)
        raise NoFormula(operator)

    def constant(self, values: object) -> TableSums:
        """Return sums without tables."""
        numbers = np.asarray(values, np.int64)
        made = _vector([constant(each) for each in numbers.ravel().tolist()])
        return TableSums(self.reference, made.reshape(numbers.shape))

    def product(self, weights: Array, *, signed: bool = False) -> TableSums:  # noqa: ARG002
        """Return W x."""
        return self @ weights.T

    def window_sums(self, weights: Array, bias: IntArray, windows: SlidingWindow) -> TableSums:
        """Return sums over windows."""

        def sums(x: Operand) -> Operand:
            images = x.op("Reshape", [-1, *self.sums.shape[1:]])
            return images.window_sums(weights, bias, windows)

        shape = arrays_of(sums, np.zeros((1, self.sums.size), np.uint8)).shape
        made = self.reference.affine(sums, list(self.values().ravel()))
        return TableSums(self.reference, _vector(made).reshape(shape))

    def __rshift__(self, bits: Any) -> TableSums:
        made = self._applied(lambda x, by: x >> by, bits)
        return replace(made, dropped=int(bits)) if self.function is None else made

    def _applied(self, function: Callable[..., Operand], *others: Any) -> TableSums:
        """Return a function of each value, and of constants or other functions of the same sum."""

        def at(place: tuple[int, ...], x: Operand, given: Any) -> Any:
            if not isinstance(given, TableSums):
                return np.broadcast_to(given, self.sums.shape)[place]
            return x if given.function is None else given.function(place, x)

        def made(place: tuple[int, ...], x: Operand) -> Operand:
            return function(*(at(place, x, each) for each in (self, *others)))

        variables = [self, *(each for each in others if isinstance(each, TableSums))]
        if any(each.sums is not self.sums for each in variables):
            raise NoFormula("functions of two sums")
        dropped = min(each.dropped for each in variables)  # by all of them
        return TableSums(self.reference, self.sums, made, dropped)

    def _joined(
        self, join: Callable[[SumForm, SumForm], SumForm], axes: list[int], *, keepdims: int = 1
    ) -> TableSums:
        kept = [each for each in range(self.sums.ndim) if each not in axes]
        values = self.values().transpose(*kept, *axes)
        shape = [1 if each in axes else size for each, size in enumerate(self.sums.shape)]
        groups = values.reshape(-1, self.sums.size // max(1, prod(shape)))
        made = _vector([reduce(join, group) for group in groups]).reshape(shape)
        return TableSums(self.reference, made if keepdims else made.squeeze(tuple(axes)))

    def _matrix_product(self, other: Any) -> TableSums:
        """Return a product with a constant, on either side."""
        if isinstance(other, TableSums):
            if any(each.tables for each in self.sums.flat):
                raise NoFormula("MatMul of two variables")
            numbers = np.array([each.constant for each in self.sums.flat], np.int64)
            columns, rows = np.moveaxis(other.values(), -2, -1), numbers.reshape(self.sums.shape)
        else:
            columns, rows = self.values(), np.transpose(other)
        *before, length = columns.shape
        none = np.zeros(len(rows), np.int64)
        products = [
            each
            for column in columns.reshape(-1, length)
            for each in self.reference.products(rows, none, list(column))
        ]
        made = _vector(products).reshape(*before, len(rows))
        if isinstance(other, TableSums):
            made = np.moveaxis(made, -1, -2)
        return TableSums(self.reference, made)


def _vector(sums: Iterable[SumForm]) -> Forms:
    """Return sums as a vector."""
    every = list(sums)
    vector = np.empty(len(every), np.object_)
    vector[:] = every
    return vector
