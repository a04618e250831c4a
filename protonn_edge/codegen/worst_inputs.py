"""Search inputs that take a generated program long, to hold the plan's bound of its cycles against.

Where the projected point is decides how many prototypes are looked at how far. So the search climbs
in the projected space first, where it is easy, and then looks for inputs that are projected there,
none of them 0. Nothing says that there are no worse ones; that is what the bound is for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from protonn_edge.codegen.plan import Plan, prototype_costs
from protonn_edge.quantization import IntegerModel, compared
from protonn_edge.quantization.integer_model import RESCALING_SHIFT

_POINTS = 32
_ROUNDS = 800
_TARGETS = 6
_REFINEMENTS = 400
_PARTNERS = 200


def worst_inputs(model: IntegerModel, plan: Plan, count: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return inputs (count, features) uint8 that take long, the worst first.

    Parameters
    ----------
    model : IntegerModel
        The model; with a reduction the inputs are images.
    plan : Plan
        What says how long a prototype takes.
    count : int
        How many inputs to return, at most 32.
    seed : int
        Of the search.
    """
    generator = np.random.default_rng(seed)
    costs = prototype_costs(plan)
    targets = _climb(model, _middles(model, generator), costs, generator)[:_TARGETS]
    found = np.array([_input_near(model, target) for target in targets])
    inputs = _refine(model, found, costs, generator)[:count]
    return images_of(model, inputs)


def prototype_cycles(
    model: IntegerModel, points: NDArray[np.int64], costs: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the cycles (n,) that all prototypes take for projected points (n, d)."""
    reached = compared(model, points)[:, :, 1:].sum(axis=1)
    cycles: NDArray[np.int64] = model.n_prototypes * costs[0] + reached @ np.diff(costs)
    return cycles


def _middles(model: IntegerModel, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return prototypes, what is halfway between two of them, and what is around their mean."""
    B = model.prototypes.T.astype(np.int64)
    some = B[generator.integers(0, len(B), (_PARTNERS, 2))].mean(axis=1)
    mean = B.mean(axis=0) + generator.normal(0, 8, (_PARTNERS // 4, B.shape[1]))
    few = B[generator.permutation(len(B))[:_PARTNERS]]
    middles: NDArray[np.int64] = np.rint(np.concatenate([few, some, mean])).astype(np.int64)
    return middles


def _climb(
    model: IntegerModel,
    points: NDArray[np.int64],
    costs: NDArray[np.int64],
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Move projected points to where prototypes take longer; the worst first."""

    def cycles(tried: NDArray[np.int64]) -> NDArray[np.int64]:
        return prototype_cycles(model, tried, costs)

    def moved(points: NDArray[np.int64]) -> NDArray[np.int64]:
        size = generator.choice([1, 4, 10, 20])
        some = generator.random(points.shape) < generator.choice([0.1, 0.3, 1.0])
        step = np.rint(generator.normal(0, size, points.shape) * some).astype(np.int64)
        limited: NDArray[np.int64] = np.clip(points + step, -128, 127)
        return limited

    best = np.argsort(-cycles(points), kind="stable")[:_POINTS]
    return _ascend(points[best], cycles, moved, _ROUNDS)


def _input_near(model: IntegerModel, target: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return inputs (D,) of the projection, none 0, that are projected near a target (d,)."""
    unit = model.multiplier / (1 << (RESCALING_SHIFT + model.accumulator_bits - 16))
    constant = model.offset / (1 << RESCALING_SHIFT) + unit * model.start - 0.5
    W, maximum = unit * model.projection.astype(np.float64), model.inputs.maximum
    if maximum == 1:
        return np.ones(model.n_inputs, np.int64)
    solved = lsq_linear(W, target - constant, (1, maximum), max_iter=100, lsmr_tol="auto")
    rounded: NDArray[np.int64] = np.rint(solved.x).astype(np.int64)
    return rounded


def _refine(
    model: IntegerModel,
    inputs: NDArray[np.int64],
    costs: NDArray[np.int64],
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Change inputs a little where prototypes then take longer; the worst first."""
    inputs = np.repeat(inputs, -(-_POINTS // len(inputs)), axis=0)

    def cycles(tried: NDArray[np.int64]) -> NDArray[np.int64]:
        return prototype_cycles(model, model.project(tried.astype(np.uint8)), costs)

    def changed(inputs: NDArray[np.int64]) -> NDArray[np.int64]:
        some = generator.random(inputs.shape) < generator.choice([0.01, 0.05, 0.3])
        step = generator.integers(-3, 4, inputs.shape) * some
        limited: NDArray[np.int64] = np.clip(inputs + step, 1, model.inputs.maximum)
        return limited

    return _ascend(inputs, cycles, changed, _REFINEMENTS)


def _ascend(
    points: NDArray[np.int64],
    cycles: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    changed: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    rounds: int,
) -> NDArray[np.int64]:
    """Change points, each on its own, and keep what takes longer; return the worst first."""
    taken = cycles(points)
    for _ in range(rounds):
        tried = changed(points)
        now = cycles(tried)
        better = now > taken
        points[better], taken[better] = tried[better], now[better]
    worst: NDArray[np.int64] = points[np.argsort(-taken, kind="stable")]
    return worst


def images_of(model: IntegerModel, inputs: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return what the device is fed for inputs of the projection: with a reduction, plain areas."""
    if model.reduction is None:
        return inputs.astype(np.uint8)
    rows, columns = model.reduction.rows, model.reduction.columns
    pixels = np.rint(inputs * model.features.maximum / model.inputs.maximum).astype(np.uint8)
    y = (np.arange(rows.pixels) * rows.pixel_units) // rows.output_units
    x = (np.arange(columns.pixels) * columns.pixel_units) // columns.output_units
    areas = pixels.reshape(-1, rows.outputs, columns.outputs)[:, y][:, :, x]
    images = np.zeros((len(inputs), rows.side, columns.side), np.uint8)
    last, right = rows.first + rows.pixels, columns.first + columns.pixels
    images[:, rows.first : last, columns.first : right] = areas
    return images.reshape(len(inputs), -1)
