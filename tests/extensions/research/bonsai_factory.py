"""Trees of gated sums for tests: random ones in floats and in integers, and small ones by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from chains import PLACES, PROJECTION, STAGES, Stages, chain_of, model_of, random_parts, tiny_parts
from model_factory import parts_for, random_points

from protonn_edge.extensions.research.kinds.bonsai.head import BonsaiHead, LocalDeepKernelHead
from protonn_edge.extensions.research.kinds.bonsai.integers import IntegerBonsaiTree, Sums
from protonn_edge.extensions.research.kinds.bonsai.quantize import coordinate_range
from protonn_edge.kinds.projection.integers import IntegerProjection
from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import Range
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError

_TREE = {
    "weights": "bonsai_tree.weights.weights",
    "weight_bias": "bonsai_tree.weights.bias",
    "weight_shift": "bonsai_tree.weight_shift",
    "gates": "bonsai_tree.gates.weights",
    "gate_bias": "bonsai_tree.gates.bias",
    "gate_shift": "bonsai_tree.gate_shift",
    "branches": "bonsai_tree.branches.weights",
    "branch_bias": "bonsai_tree.branches.bias",
    "table": "bonsai_tree.table",
}


def _tree(feed: Range, numbers: dict[str, Any]) -> IntegerBonsaiTree:
    return IntegerBonsaiTree(
        Sums(numbers["weights"], numbers["weight_bias"]),
        Sums(numbers["gates"], numbers["gate_bias"]),
        Sums(numbers["branches"], numbers["branch_bias"]),
        numbers["weight_shift"],
        numbers["gate_shift"],
        numbers["table"],
        feed,
    )


def _kernel_stages(maximum: int, **numbers: Any) -> Stages:
    return (_tree(Range.of_bytes(numbers["weights"].shape[1], maximum), numbers),)


def _bonsai_stages(maximum: int, **numbers: Any) -> Stages:
    feed = coordinate_range(len(numbers["projection"]))
    Z, bias, bits = (numbers[name] for name in ("projection", "bias", "accumulator_bits"))
    projection = IntegerProjection(
        Z, bias, bits, maximum, numbers["multiplier"], numbers["offset"], feed
    )
    return projection, _tree(feed, numbers)


PLACES[BonsaiHead] = {**_TREE, **PROJECTION}
PLACES[LocalDeepKernelHead] = _TREE
STAGES[BonsaiHead] = _bonsai_stages
STAGES[LocalDeepKernelHead] = _kernel_stages
bonsai_chain = partial(chain_of, BonsaiHead)
kernel_chain = partial(chain_of, LocalDeepKernelHead)
bonsai_model = partial(model_of, BonsaiHead)
kernel_model = partial(model_of, LocalDeepKernelHead)


def random_kernel_model(
    seed: int = 0, *, features: int = 12, depth: int = 1, classes: int = 3, **parts: Any
) -> Model:
    """Return a float model with random weights."""
    X = random_points(seed, 300, features)
    return kernel_model(
        **_random_tree(seed, features, depth, classes), **parts_for(X, classes), **parts
    )


def random_bonsai_model(
    seed: int = 0,
    *,
    features: int = 12,
    projections: int = 5,
    depth: int = 1,
    classes: int = 3,
    **parts: Any,
) -> Model:
    """Return the same behind a projection that leaves points within -1..1."""
    rng = np.random.default_rng(seed)
    X = random_points(seed, 300, features)
    shared = parts_for(X, classes)
    Z = rng.normal(size=(projections, features))
    Z /= np.abs(shared["normalizer"].apply(X) @ Z.T).max(axis=0)[:, None]
    tree = {
        name: 4 * rows for name, rows in _random_tree(seed, projections, depth, classes).items()
    }
    return bonsai_model(projection=Z.astype(np.float32), **tree, **shared, **parts)


def _random_tree(seed: int, d: int, depth: int, classes: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    rows = 1 if classes == 2 else classes
    inner = (1 << depth) - 1
    shapes = {
        "weights": ((2 * inner + 1) * rows, d + 1),
        "gates": ((2 * inner + 1) * rows, d + 1),
        "branches": (inner, d + 1),
    }
    scale = np.sqrt(d + 1)
    return {
        name: (rng.normal(size=shape) / scale).astype(np.float32) for name, shape in shapes.items()
    }


def random_tree(
    seed: int,
    feed: Range,
    *,
    depth: int = 1,
    classes: int = 3,
    density: float = 0.9,
    largest: int = 127,
    gate_shift: int = 6,
    apart: bool = False,
) -> dict[str, Any]:
    """Return the fields of a chain that its tree has; no two rows read an input if `apart`."""
    rng = np.random.default_rng(seed)
    rows, inner, d = 1 if classes == 2 else classes, (1 << depth) - 1, len(feed.low)
    nodes = (2 * inner + 1) * rows
    matrix = rng.integers(-largest, largest + 1, (2 * nodes + inner, d))
    matrix[rng.random(matrix.shape) >= density] = 0
    if apart:
        matrix *= np.arange(d) % len(matrix) == np.arange(len(matrix))[:, None]
    middle = (matrix @ (feed.low + feed.high)) // 2
    matrix, bias = matrix.astype(np.int8), -middle + rng.integers(-50, 50, len(matrix))
    parts = (slice(nodes), slice(nodes, 2 * nodes), slice(2 * nodes, None))
    sums = [Sums(matrix[part], bias[part]) for part in parts]
    table = tanh_table(0.03)

    def fits(weight_shift: int) -> bool:
        try:
            IntegerBonsaiTree(*sums, weight_shift, gate_shift, table, feed)
        except InputError:
            return False
        return True

    weights, gates, branches = sums
    return {
        "weights": weights.weights,
        "weight_bias": weights.bias,
        "weight_shift": next(filter(fits, range(9)), 8),
        "gates": gates.weights,
        "gate_bias": gates.bias,
        "gate_shift": gate_shift,
        "branches": branches.weights,
        "branch_bias": branches.bias,
        "table": table,
    }


def tanh_table(step: float) -> np.ndarray:
    """Return 127 tanh of steps from -128 to 127."""
    return np.rint(127 * np.tanh(step * (np.arange(-128, 128) + 0.5))).astype(np.int8)


def random_kernel_chain(
    seed: int, *, features: int = 40, maximum: int = 255, **tree: Any
) -> IntegerChain:
    """Return integers of a random tree that reads bytes."""
    fields = random_tree(seed, Range.of_bytes(features, maximum), **tree)
    return kernel_chain(**fields, **random_parts(features, maximum, tree.get("classes", 3)))


def random_bonsai_chain(
    seed: int, *, features: int = 60, projections: int = 8, **tree: Any
) -> IntegerChain:
    """Return integers of a random tree behind a projection, some of whose coordinates clamp."""
    rng = np.random.default_rng(seed)
    Z = rng.integers(-5, 6, (projections, features))
    return bonsai_chain(
        projection=Z.astype(np.int8),
        bias=-(63 * Z.sum(axis=1) // 2),
        accumulator_bits=16,
        multiplier=4_000,
        offset=np.full(projections, 1 << 15),
        **random_tree(seed, coordinate_range(projections), **tree),
        **random_parts(features, 63, tree.get("classes", 3)),
    )


def ends_of_range(stage: IntegerBonsaiTree) -> np.ndarray:
    """Return inputs at which each score of a tree whose rows are apart is least, and largest."""
    points = []
    for leaf in range(stage.n_nodes // 2, stage.n_nodes):
        for row in range(stage.n_rows):
            for sign in (-1, 1):
                point = stage.feed.low.copy()
                child = leaf
                _set_best(stage, point, leaf * stage.n_rows + row, sign)
                while child:
                    node = (child - 1) // 2
                    _set_end(stage, point, stage.branches.weights[node], 1 - child % 2)
                    _set_best(stage, point, node * stage.n_rows + row, sign)
                    child = node
                points.append(point)
    return np.array(points)


def _set_best(stage: IntegerBonsaiTree, point: np.ndarray, place: int, sign: int) -> None:
    """Set the inputs of a row to what adds the largest number of this sign."""

    def added(ends: tuple[int, int]) -> int:
        for sums, end in zip((stage.weights, stage.gates), ends, strict=True):
            _set_end(stage, point, sums.weights[place], end)
        h, i = (
            int(arrays_of(sums.of, point[None])[0, place]) >> shift
            for sums, shift in (
                (stage.weights, stage.weight_shift),
                (stage.gates, stage.gate_shift),
            )
        )
        return sign * ((h * int(stage.table[min(max(i, -128), 127) + 128])) >> 8)

    added(max([(a, b) for a in (0, 1) for b in (0, 1)], key=added))


def _set_end(stage: IntegerBonsaiTree, point: np.ndarray, weights: np.ndarray, high: int) -> None:
    """Set the inputs that a row reads to what makes its sum largest, or least."""
    upper = (weights > 0) == bool(high)
    ends = np.where(upper, stage.feed.high, stage.feed.low)
    point[weights != 0] = ends[weights != 0]


def tiny_kernel_chain() -> IntegerChain:
    """Return integers of a tree of three nodes that reads 6 bytes, for 3 classes; sparse rows."""
    rows = np.zeros((18, 6), np.int64)
    rows[np.arange(18), np.arange(18) % 6] = 7 * np.arange(18) - 60
    return kernel_chain(
        weights=rows[:9].astype(np.int8),
        weight_bias=np.arange(9) * 100 - 400,
        weight_shift=1,
        gates=rows[9:].astype(np.int8),
        gate_bias=600 - 150 * np.arange(9),
        gate_shift=7,
        branches=np.array([[0, 1, 0, 0, 0, -1]], np.int8),
        branch_bias=np.array([-3]),
        table=tanh_table(1 / 32),
        **tiny_parts(255),
    )
