"""The operands of a stage's formula, which states its arithmetic once.

``formula(x)`` of a stage uses Python's operators, the operators of ONNX by name, and products of
weights. On `Arrays` it computes the values: the reference. On `Intervals` it bounds them for all
inputs between two. An extension has others, such as values of a graph of ONNX. All of them are
integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array

IntArray = NDArray[np.int64]
Pair = tuple[int, int]

_INT64 = 7  # ONNX's number of the type


class NoFormula(NotImplementedError):
    """A stage has no formula, or uses an operator for which operands of some kind have none."""


class SlidingWindow(NamedTuple):
    """How a window moves over images (n, h, w, channels), with margins of one byte around them."""

    stride: Pair
    margins: tuple[Pair, Pair]  # rows above and below, pixels to the left and right
    around: int  # the byte in the margins
    depthwise: bool  # whether each output channel reads only the channel of its number


class Operand(ABC):
    """Integers of n points, (n, ...), that a formula computes with."""

    @abstractmethod
    def op(self, operator: str, *others: object, **attributes: object) -> Self:
        """Apply an operator of ONNX to these integers and others: operands, numbers or arrays."""

    @abstractmethod
    def constant(self, values: object) -> Self:
        """Return an operand with the same integers for all points."""

    @abstractmethod
    def product(self, weights: Array, *, signed: bool = False) -> Self:
        """Return W x, (n, d), for bytes (n, D), which may be `signed`, and weights (d, D)."""

    @abstractmethod
    def window_sums(self, weights: Array, bias: IntArray, windows: SlidingWindow) -> Self:
        """Return sums with weights (out, h, w, channels) and a bias (out,), over windows."""

    def squared_distances(self, points: Array) -> Self:
        """Return the squared distances (n, m) from signed bytes (n, d) to points (m, d)."""
        own, lengths = (self * self).op("ReduceSum", [1]), np.square(points.astype(np.int64))
        squares: Self = own + lengths.sum(axis=1) - self.product(points, signed=True) * 2
        return squares

    def rising(self, function: Callable[[Operand], Operand]) -> Operand:
        """Apply a function that never decreases with any of the integers."""
        return function(self)

    def __add__(self, other: object) -> Self:
        return self.op("Add", other)

    def __sub__(self, other: object) -> Self:
        return self.op("Sub", other)

    def __mul__(self, other: object) -> Self:
        return self.op("Mul", other)

    def __matmul__(self, other: object) -> Self:
        return self.op("MatMul", other)

    def __gt__(self, other: object) -> Self:
        above: Self = self.op("Greater", other).wide
        return above

    @abstractmethod
    def __rshift__(self, bits: object) -> Self:
        """Shift to the right, rounding down."""

    def __getitem__(self, places: tuple[slice, ...]) -> Self:
        """Return slices along the axes after the first."""
        starts, ends = [each.start for each in places], [each.stop for each in places]
        return self.op("Slice", starts, ends, [*range(1, len(places) + 1)])

    @property
    def wide(self) -> Self:
        """The integers, or truth values, in 64 bits."""
        return self.op("Cast", to=_INT64)


def _axes(axes: Any) -> tuple[int, ...]:
    return tuple(np.atleast_1d(axes).tolist())


def _slices(x: Array, starts: Any, ends: Any, _axes_after_first: Any) -> Array:
    return x[(slice(None), *map(slice, starts, ends))]


def _padded(x: Array, widths: Any) -> Array:
    before, after = np.reshape(widths, (2, -1))
    return np.pad(x, [*zip(before.tolist(), after.tolist(), strict=True)])


def _quotients(one: Array, other: Array) -> Array:
    quotients: Array = np.sign(one) * (np.abs(one) // other)
    return quotients


def matrix_products(one: Array, other: Array) -> IntArray:
    """Return products of matrices of integers; every sum is far below 2**53."""
    # BLAS has no integer product, and one large product is faster than many small ones.
    rows = one.reshape(-1, one.shape[-1]) if other.ndim == 2 else one
    made: IntArray = (rows.astype(np.float64) @ other.astype(np.float64)).astype(np.int64)
    return made.reshape(*one.shape[:-1], made.shape[-1]) if other.ndim == 2 else made


OPERATORS: dict[str, Callable[..., Any]] = {
    # Bytes are computed with in 64 bits.
    "Add": partial(np.add, dtype=np.int64),
    "Sub": partial(np.subtract, dtype=np.int64),
    "Mul": partial(np.multiply, dtype=np.int64),
    "MatMul": matrix_products,
    "Div": _quotients,
    "Mod": lambda one, other: one & (other - 1),  # by powers of two
    "Abs": np.abs,
    "Sign": np.sign,
    "Max": np.maximum,
    "Min": np.minimum,
    "Clip": np.clip,
    "Equal": np.equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "Where": np.where,
    "Cast": lambda x, **_to: x.astype(np.int64, copy=False),
    "Reshape": lambda x, shape: x.reshape(shape),
    "Transpose": lambda x, *, perm: x.transpose(perm),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, _axes(axes)),
    "Concat": lambda x, *others, axis: np.concatenate([x, *others], axis),
    "Slice": _slices,
    "Pad": _padded,
    "Gather": lambda table, places: table.take(places, axis=0),
    "GatherElements": lambda x, places, *, axis: np.take_along_axis(x, places, axis),
    "GatherND": lambda x, places, *, batch_dims: np.take_along_axis(x, places, batch_dims),
    "ArgMax": lambda x, *, axis: np.expand_dims(x.argmax(axis), axis),
    "ReduceMax": lambda x, axes, *, keepdims=1: x.max(_axes(axes), keepdims=bool(keepdims)),
    "ReduceSum": lambda x, axes, *, keepdims=1: x.sum(
        _axes(axes), dtype=np.int64, keepdims=bool(keepdims)
    ),
}

_RISING = {
    *("Add", "Max", "Min", "Clip", "Cast", "Reshape", "Transpose", "Unsqueeze", "Concat"),
    *("Slice", "Pad", "ReduceMax", "ReduceSum"),
}
"""Operators that never decrease with any operand."""


@dataclass(frozen=True, eq=False)
class Arrays(Operand):
    """Integers, (n, ...): bytes, or int64."""

    values: Array

    def op(self, operator: str, *others: object, **attributes: object) -> Arrays:
        """Apply an operator of ONNX."""
        given = (each.values if isinstance(each, Arrays) else _whole(each) for each in others)
        return Arrays(OPERATORS[operator](self.values, *given, **attributes))

    def constant(self, values: object) -> Arrays:
        """Return integers that are the same for all points."""
        return Arrays(_whole(values))

    def product(self, weights: Array, *, signed: bool = False) -> Arrays:  # noqa: ARG002
        """Return W x."""
        return Arrays(matrix_products(self.values, weights.T))

    def window_sums(self, weights: Array, bias: IntArray, windows: SlidingWindow) -> Arrays:
        """Return sums over windows."""
        # BLAS has no integer product; floats that hold every sum exactly do.
        largest = int(np.abs(self.values).max(initial=windows.around))
        total = int(np.abs(weights.astype(np.int64)).sum(axis=(1, 2, 3)).max()) * largest
        exact: type[np.floating[Any]] = np.float32 if total < 1 << 24 else np.float64
        wide, sums = weights.astype(exact), None
        for i, j, tap in taps(self.values.astype(exact), weights.shape[1:3], windows):
            part = tap * wide[:, i, j, 0] if windows.depthwise else tap @ wide[:, i, j].T
            sums = part if sums is None else np.add(sums, part, out=sums)
        assert sums is not None
        return Arrays(sums.astype(np.int64) + bias)

    def __rshift__(self, bits: object) -> Arrays:
        return Arrays(self.values >> _whole(bits))


def arrays_of(function: Callable[[Operand], Operand], x: Array) -> Array:
    """Return the values of a formula, or a part of one, for arrays (n, ...)."""
    made = function(Arrays(x))
    assert isinstance(made, Arrays)
    return made.values


def _whole(values: object) -> IntArray:
    return np.asarray(values, np.int64)


def taps(images: Array, window: Pair, windows: SlidingWindow) -> Iterator[tuple[int, int, Array]]:
    """Yield each position in a window, with the pixels (n, h, w, channels) there."""
    around = ((0, 0), *windows.margins, (0, 0))
    if any(map(any, windows.margins)):
        images = np.pad(images, around, constant_values=windows.around)
    ends = [size - side + 1 for size, side in zip(images.shape[1:3], window, strict=True)]
    down, across = windows.stride
    for i, j in np.ndindex(window):
        yield i, j, images[:, i : i + ends[0] : down, j : j + ends[1] : across]


@dataclass(frozen=True, eq=False)
class Intervals(Operand):
    """For each of n points, the least and the largest integers, (n, ...) int64."""

    low: IntArray
    high: IntArray

    def op(self, operator: str, *others: object, **attributes: object) -> Intervals:
        """Apply an operator of ONNX; `NoFormula` if its bounds are not known."""
        ends = [_ends(each) for each in others]
        if operator in _RISING:
            low, high = (
                OPERATORS[operator](end, *(each[side] for each in ends), **attributes)
                for side, end in enumerate((self.low, self.high))
            )
            return Intervals(low, high)
        if operator not in _BOUNDS:
            raise NoFormula(operator)
        return _BOUNDS[operator](self, Intervals(*ends[0]))

    def constant(self, values: object) -> Intervals:
        """Return integers that are the same for all points."""
        return Intervals(*_ends(values))

    def product(self, weights: Array, *, signed: bool = False) -> Intervals:  # noqa: ARG002
        """Return the bounds of W x, with what they are sums of."""
        wide = weights.astype(np.int64)
        return WeightedSums.of(self, wide, np.zeros(len(wide), np.int64))

    def window_sums(self, weights: Array, bias: IntArray, windows: SlidingWindow) -> Intervals:
        """Return the bounds of sums over windows."""

        def sums(end: IntArray, part: Array, around: int) -> IntArray:
            return Arrays(end).window_sums(part, bias * 0, windows._replace(around=around)).values

        falling, growing, around = (*_signs(weights), windows.around)
        low = sums(self.low, growing, around) + sums(self.high, falling, around)
        high = sums(self.high, growing, around) + sums(self.low, falling, around)
        return Intervals(low + bias, high + bias)

    def squared_distances(self, points: Array) -> Intervals:
        """Return the bounds of squared distances, coordinate by coordinate."""
        shape = len(self.low), len(points)
        near, far = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for k, places in enumerate(points.T.astype(np.int64)):
            below, above = places - self.low[:, k, None], self.high[:, k, None] - places
            far += np.maximum(np.abs(below), np.abs(above)) ** 2
            near += np.maximum(np.maximum(-below, -above), 0) ** 2
        return Intervals(near, far)

    def rising(self, function: Callable[[Operand], Operand]) -> Intervals:
        """Apply a function that never decreases to both ends."""
        low, high = (function(Arrays(end)) for end in (self.low, self.high))
        assert isinstance(low, Arrays)
        assert isinstance(high, Arrays)
        return Intervals(low.values, high.values)

    def __rshift__(self, bits: object) -> Intervals:
        return Intervals(self.low >> _whole(bits), self.high >> _whole(bits))

    def leads(self, columns: IntArray) -> IntArray:
        """Return how far one column (n,) of integers (n, d) is at least above each, (n, d)."""
        least: IntArray = np.take_along_axis(self.low, columns[:, None], axis=1) - self.high
        return least


@dataclass(frozen=True, eq=False)
class WeightedSums(Intervals):
    """The bounds of ``bias + W x``; those of differences of two such sums are exact as well."""

    x: Intervals  # (n, D)
    weights: IntArray  # (d, D)
    bias: IntArray  # (d,)

    @classmethod
    def of(cls, x: Intervals, weights: IntArray, bias: IntArray) -> WeightedSums:
        """Return the bounds of sums."""
        falling, growing = (each.T.astype(np.float64) for each in _signs(weights))
        low = x.low @ growing + x.high @ falling
        high = x.high @ growing + x.low @ falling
        return cls(low.astype(np.int64) + bias, high.astype(np.int64) + bias, x, weights, bias)

    def op(self, operator: str, *others: object, **attributes: object) -> Any:
        """Apply an operator of ONNX: sums stay sums if a constant is added, or multiplies them."""
        if operator == "Add" and not isinstance(others[0], Operand):
            more = _whole(others[0])
            low, high, bias = self.low + more, self.high + more, self.bias + more
            return WeightedSums(low, high, self.x, self.weights, bias)
        if operator == "MatMul" and not isinstance(others[0], Operand):
            matrix = _whole(others[0])
            return WeightedSums.of(self.x, matrix.T @ self.weights, self.bias @ matrix)
        return super().op(operator, *others, **attributes)

    def leads(self, columns: IntArray) -> IntArray:
        """Return how far one column (n,) of sums (n, d) is at least above each, (n, d)."""
        least = np.zeros((len(columns), len(self.weights)), np.int64)
        for column in np.unique(columns):
            rows = columns == column
            own = Intervals(self.x.low[rows], self.x.high[rows])
            weights, bias = self.weights[column] - self.weights, self.bias[column] - self.bias
            least[rows] = WeightedSums.of(own, weights, bias).low
        return least


def _ends(values: object) -> tuple[IntArray, IntArray]:
    if isinstance(values, Intervals):
        return values.low, values.high
    return (_whole(values),) * 2


def _signs(weights: Array) -> tuple[Array, Array]:
    return np.minimum(weights, 0), np.maximum(weights, 0)


def _difference(one: Intervals, other: Intervals) -> Intervals:
    return Intervals(one.low - other.high, one.high - other.low)


def _multiplied(one: Intervals, other: Intervals) -> Intervals:
    corners = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
    return Intervals(np.minimum.reduce(corners), np.maximum.reduce(corners))


def _matrix_product(one: Intervals, other: Intervals) -> Intervals:
    """Return the bounds of a product with a constant, on either side."""
    if other.low is other.high:
        falling, growing = _signs(other.low)
        low = matrix_products(one.low, growing) + matrix_products(one.high, falling)
        high = matrix_products(one.high, growing) + matrix_products(one.low, falling)
    elif one.low is one.high:
        falling, growing = _signs(one.low)
        low = matrix_products(growing, other.low) + matrix_products(falling, other.high)
        high = matrix_products(growing, other.high) + matrix_products(falling, other.low)
    else:
        raise NoFormula("MatMul of two variables")
    return Intervals(low, high)


def _read(table: Intervals, places: Intervals) -> Intervals:
    """Return the bounds of the entries of a constant vector between two places."""
    if table.low is not table.high or table.low.ndim != 1:
        raise NoFormula("Gather from other than a vector")
    entries = table.low
    behind = np.arange(len(entries)) >= np.arange(len(entries))[:, None]
    least = np.minimum.accumulate(np.where(behind, entries, entries.max()), axis=1)
    most = np.maximum.accumulate(np.where(behind, entries, entries.min()), axis=1)
    return Intervals(least[places.low, places.high], most[places.low, places.high])


_BOUNDS: dict[str, Callable[[Intervals, Intervals], Intervals]] = {
    "Sub": _difference,
    "Mul": _multiplied,
    "MatMul": _matrix_product,
    "Gather": _read,
}
