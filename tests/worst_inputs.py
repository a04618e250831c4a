"""Search inputs that take a generated program long, to hold the plan's bound of its cycles against.

Where the projected point is decides how many prototypes are looked at how far. So the search climbs
in the projected space first, where it is easy, and then looks for inputs that are projected there,
none of them 0. Of images that are deskewed, it looks for some whose rows have to move. Nothing
says that there are no worse ones; that is what the bound is for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from chains import numbers_of
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.verification.drawn_points import drawn_points
from protonn_edge.features.deskew.integers import row_shifts
from protonn_edge.features.deskew.kernels import moved_row_cycles, moved_rows
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.kinds.projection.integers import REQUANTIZE_SHIFT, IntegerProjection
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.integer_chain import IntegerChain, own_inputs, stage_of

Int64 = NDArray[np.int64]

_POINTS = 32
_ROUNDS = 4_000
_TARGETS = 6
_REFINEMENTS = 400
_IMAGE_REFINEMENTS = 2_000
_PARTNERS = 200

# How often points move as others of them differ (differential evolution).
_TOGETHER = 0.3

# Of all cycles, what a point may lose on the way in the beginning, about.
_TEMPERATURE = 0.004

_WEIGHT_CYCLES = 5  # of the product with an input that is not 0, about

# Slopes of images that are to be deskewed, and how they are found.
_SLOPES = (0.0, 0.25, 0.3, 0.35, 0.4, 0.5, -0.25, -0.3, -0.35, -0.4, -0.5)
_SETTLINGS = 2
_BISECTIONS = 24


def worst_inputs(
    model: IntegerChain, plan: Plan, count: int, seed: int = 0, *, effort: float = 1.0
) -> NDArray[np.uint8]:
    """Return inputs (count, features) uint8 that take long, the worst first.

    Where a feature stage does not know what becomes given features, they are points that it draws,
    and noise, changed a little.

    Parameters
    ----------
    model : IntegerChain
        The model; with average pooling the inputs are images.
    plan : Plan
        What says how long a prototype takes.
    count : int
        How many inputs to return, at most 32.
    seed : int
        Of the search.
    effort : float
        The part of all steps that the search is to take, above 0.
    """
    generator = np.random.default_rng(seed)
    if model.head is not ProtoNNHead:  # only inputs that are 0 take less
        fed = _fed(model, generator.integers(1, model.inputs.maximum + 1, (count, model.n_inputs)))
        return _drawn_points(model, generator)[:count] if fed is None else fed
    costs = prototype_costs(plan)
    middles = _middles(model, generator)
    targets = _climb(model, middles, costs, generator, effort)[:_TARGETS]
    most = np.full(model.n_inputs, model.inputs.maximum)
    stage = model.features
    if stage is not None and [each.kind for each in stage.stages] == ["deskew", "average_pooling"]:
        image = stage.stages[0].image
        areas = Areas(
            image.image_shape,
            image.cropped_shape,
            stage_of(model, IntegerAveragePooling).pooling.shape,
        )
        images = np.concatenate(list(_slanting(model, areas, targets, costs, generator, effort)))
        return _refine_images(model, areas, plan, images, generator, effort)[:count]
    near = _fed(model, _inputs_near(model, targets, most, costs, generator, effort)[:count])
    if near is not None:
        return near
    return _refine(model, plan, _drawn_points(model, generator), generator, effort)[:count]


def _fed(model: IntegerChain, x: Int64) -> NDArray[np.uint8] | None:
    """Return bytes for the device that give the classifier the inputs x (n, D); None if unknown."""
    stage = model.features
    if stage is None or [each.kind for each in stage.stages] != ["average_pooling"]:
        return x.astype(np.uint8) if stage is None else None
    (averaging,) = model.feature_stages
    areas = averaging.pooling
    images = np.zeros((len(x), *areas.image_shape), np.uint8)
    inside = np.ones(areas.cropped_shape, np.bool_)
    areas.cropped(images)[...] = pixels_averaging(averaging, x, inside)
    return images.reshape(len(x), -1)


def _drawn_points(model: IntegerChain, generator: np.random.Generator) -> NDArray[np.uint8]:
    """Return 32 points, (32, features): noise, and what the feature stage draws."""
    noise = generator.integers(1, BYTE_MAXIMUM + 1, (_POINTS // 2, model.n_features))
    assert model.features is not None  # or inputs are what the device is fed
    examples = drawn_points(model.features.points, _POINTS - len(noise))
    return np.concatenate([noise.astype(np.uint8), examples])


def prototype_costs(plan: Plan) -> Int64:
    """Return cycles (d + 1,), about: of a prototype far by 1..d coordinates, and of a near one."""
    stage = plan.of("prototypes").stage
    far = 7 + 9 * np.arange(1, stage.n_inputs + 1)
    return np.append(far, far[-1] + 40 + 8 * stage.n_outputs)


def prototype_cycles(model: IntegerChain, points: Int64, costs: Int64) -> Int64:
    """Return the cycles (n,) that all prototypes take for projected points (n, d)."""
    stage = stage_of(model, IntegerPrototypes)
    reached = compared(stage, points)[:, :, 1:].sum(axis=1)
    cycles: Int64 = stage.n_prototypes * costs[0] + reached @ np.diff(costs)
    return cycles


def compared(stage: IntegerPrototypes, points: Int64) -> NDArray[np.bool_]:
    """Return which coordinates of prototypes are compared with points (n, d): (n, m, d + 1).

    The last entry shows whether the prototype is near.
    """
    difference = points[:, None, :].astype(np.int64) - stage.prototypes.T.astype(np.int64)
    partial = np.square(difference).cumsum(axis=2)
    first = np.ones((*partial.shape[:2], 1), np.bool_)
    return np.concatenate([first, partial < stage.distance_limit], axis=2)


def _middles(model: IntegerChain, generator: np.random.Generator) -> Int64:
    """Return prototypes, what is halfway between two of them, and what is around their mean."""
    B = numbers_of(model)["prototypes"].T.astype(np.int64)
    some = B[generator.integers(0, len(B), (_PARTNERS, 2))].mean(axis=1)
    mean = B.mean(axis=0) + generator.normal(0, 8, (_PARTNERS // 4, B.shape[1]))
    few = B[generator.permutation(len(B))[:_PARTNERS]]
    middles: Int64 = np.rint(np.concatenate([few, some, mean])).astype(np.int64)
    return middles


def _climb(
    model: IntegerChain,
    points: Int64,
    costs: Int64,
    generator: np.random.Generator,
    effort: float,
) -> Int64:
    """Move projected points to where prototypes take longer; the worst first."""

    def cycles(tried: Int64) -> Int64:
        return prototype_cycles(model, tried, costs)

    def moved(points: Int64) -> Int64:
        size = generator.choice([1, 3, 6, 12])
        some = generator.random(points.shape) < generator.choice([0.1, 0.3, 1.0])
        step = generator.normal(0, size, points.shape) * some
        if generator.random() < _TOGETHER:  # along where two others differ
            one, other = generator.integers(0, len(points), (2, len(points)))
            step = (points[one] - points[other]) * generator.random((len(points), 1))
        limited: Int64 = np.clip(points + np.rint(step).astype(np.int64), -128, 127)
        return limited

    best = np.argsort(-cycles(points), kind="stable")[:_POINTS]
    return _ascend(points[best], cycles, moved, effort * _ROUNDS, generator)


def _inputs_near(
    model: IntegerChain,
    targets: Int64,
    most: Int64,
    costs: Int64,
    generator: np.random.Generator,
    effort: float,
) -> Int64:
    """Return inputs up to `most` (D,), 0 only where they must be, projected about to targets.

    They are changed a little to where prototypes then take longer; the worst first.
    """
    least = np.minimum(most, 1)
    found = np.array([_solved(model, target, least, most) for target in targets])
    inputs = np.repeat(found, -(-_POINTS // len(found)), axis=0)

    def cycles(tried: Int64) -> Int64:
        return prototype_cycles(
            model, stage_of(model, IntegerProjection).run(tried.astype(np.uint8)), costs
        )

    def changed(inputs: Int64) -> Int64:
        some = generator.random(inputs.shape) < generator.choice([0.01, 0.05, 0.3])
        step = generator.integers(-3, 4, inputs.shape) * some
        limited: Int64 = np.clip(inputs + step, least, most)
        return limited

    return _ascend(inputs, cycles, changed, effort * _REFINEMENTS, generator)


def _solved(model: IntegerChain, target: Int64, least: Int64, most: Int64) -> Int64:
    """Return inputs (D,) between limits whose projection comes close to a target (d,)."""
    stage = stage_of(model, IntegerProjection)
    unit = stage.multiplier / (1 << (REQUANTIZE_SHIFT + stage.accumulator_bits - 16))
    constant = stage.offset / (1 << REQUANTIZE_SHIFT) + unit * stage.bias - 0.5
    free, inputs = most > least, least.copy()
    if free.any():
        W = unit * stage.weights.astype(np.float64)
        wanted = target - constant - W[:, ~free] @ least[~free]
        limits = least[free], most[free]
        solved = lsq_linear(W[:, free], wanted, limits, max_iter=100, lsmr_tol="auto")
        inputs[free] = np.rint(solved.x)
    return inputs


def _ascend(
    points: Int64,
    cycles: Callable[[Int64], Int64],
    changed: Callable[[Int64], Int64],
    rounds: float,
    generator: np.random.Generator,
) -> Int64:
    """Change points, each on its own, to what takes longer; return the worst ones first.

    In the beginning they may take shorter for a while (simulated annealing).
    """
    points = points.copy()
    taken = cycles(points)
    best, most = points.copy(), taken.copy()
    for heat in np.linspace(_TEMPERATURE, 0, math.ceil(rounds)):
        tried = changed(points)
        now = cycles(tried)
        kept = now > taken - heat * taken * generator.exponential(size=len(taken))
        points[kept], taken[kept] = tried[kept], now[kept]
        better = taken > most
        best[better], most[better] = points[better], taken[better]
    worst: Int64 = best[np.argsort(-most, kind="stable")]
    return worst


def _slanting(
    model: IntegerChain,
    pooling: Areas,
    targets: Int64,
    costs: Int64,
    generator: np.random.Generator,
    effort: float,
) -> Iterator[NDArray[np.uint8]]:
    """Yield images that are deskewed and then, about, projected to these targets.

    The pixels that do not count are free to give an image its slope, from which follows how far
    rows move, and so what inputs there may be.
    """
    y = np.arange(pooling.rows.side) - pooling.rows.side // 2
    for slope in _SLOPES:
        shifts = np.rint(slope * y).astype(np.int64)
        for _ in range(_SETTLINGS):
            inside, _ = _inside(pooling, shifts)
            most = np.floor(shares_of(pooling, inside) * model.inputs.maximum).astype(np.int64)
            inputs = _inputs_near(model, targets, most, costs, generator, effort)[0]
            image = _slanted(model, pooling, inputs, shifts, slope)
            yield image.reshape(1, -1)
            shifts = row_shifts(image)[0]


def _inside(pooling: Areas, shifts: Int64) -> tuple[NDArray[np.bool_], tuple[Int64, Int64]]:
    """Return which pixels that count, (h, w), are inside of an image whose rows move so.

    And where these are in the image.
    """
    rows, columns = pooling.rows, pooling.columns
    y = np.arange(rows.first, rows.first + rows.pixels)[:, None]
    x = np.arange(columns.pixels) + columns.first + shifts[y]
    inside = (x >= 0) & (x < columns.side)
    return inside, (np.broadcast_to(y, x.shape)[inside], x[inside])


def _slanted(
    model: IntegerChain, pooling: Areas, inputs: Int64, shifts: Int64, slope: float
) -> NDArray[np.uint8]:
    """Return an image (1, H, W) that has these inputs (D,) once its rows have moved."""
    inside, at = _inside(pooling, shifts)
    image = np.zeros((1, *pooling.image_shape))
    averaging = stage_of(model, IntegerAveragePooling)
    image[:, *at] = pixels_averaging(averaging, inputs[None], inside)[:, inside]
    free = np.ones(pooling.image_shape, np.bool_)
    free[at] = False
    return _with_slope(image, free, slope)


def _with_slope(
    images: NDArray[np.float64], free: NDArray[np.bool_], slope: float
) -> NDArray[np.uint8]:
    """Choose the free pixels (H, W) of images (n, H, W) such that rows move by a slope."""
    height, width = free.shape
    y = np.arange(height)[:, None] - height // 2
    leverage = y * (np.arange(width) - width // 2) * free
    wanted = np.rint(slope * (y[-1, 0] - y[0, 0]))
    least, most = np.full(len(images), -8.0), np.full(len(images), 8.0)
    made = images.astype(np.uint8)
    for _ in range(_BISECTIONS):
        middle = (least + most) / 2
        filled = np.clip(128 + middle[:, None, None] * leverage, 1, BYTE_MAXIMUM)
        made = np.where(free, filled, images).astype(np.uint8)
        shifts = row_shifts(made)
        below = shifts[:, -1] - shifts[:, 0] < wanted
        least, most = np.where(below, middle, least), np.where(below, most, middle)
    return made


def _refine_images(
    model: IntegerChain,
    pooling: Areas,
    plan: Plan,
    images: NDArray[np.uint8],
    generator: np.random.Generator,
    effort: float,
) -> NDArray[np.uint8]:
    """Change pixels a little where images then take longer, their rows moved; the worst first."""

    def moving(fed: NDArray[np.uint8]) -> Int64:
        return moved_cycles(pooling, row_shifts(fed.reshape(-1, *pooling.image_shape)))

    return _refine(model, plan, images, generator, effort, moving)


def _refine(
    model: IntegerChain,
    plan: Plan,
    points: NDArray[np.uint8],
    generator: np.random.Generator,
    effort: float,
    before: Callable[[NDArray[np.uint8]], Int64] | None = None,
) -> NDArray[np.uint8]:
    """Change values a little where points then take longer, `before` included; the worst first."""
    costs = prototype_costs(plan)
    weights = np.count_nonzero(stage_of(model, IntegerProjection).weights, axis=0)

    def cycles(tried: Int64) -> Int64:
        fed = tried.astype(np.uint8)
        inputs = own_inputs(model, fed)
        taken: Int64 = prototype_cycles(
            model, stage_of(model, IntegerProjection).run(inputs), costs
        )
        taken += (inputs != 0) @ (_WEIGHT_CYCLES * weights)
        return taken if before is None else taken + before(fed)

    def changed(points: Int64) -> Int64:
        some = generator.random(points.shape) < generator.choice([0.002, 0.01, 0.05])
        step = generator.integers(-30, 31, points.shape) * some
        limited: Int64 = np.clip(points + step, 1, BYTE_MAXIMUM)
        return limited

    whole = points.astype(np.int64)
    worst = whole[np.argsort(-cycles(whole), kind="stable")[:_POINTS]]
    refined = _ascend(worst, cycles, changed, effort * _IMAGE_REFINEMENTS, generator)
    return refined.astype(np.uint8)


def moved_cycles(image: CroppedImage, shifts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cycles (n,) of the rows that move too far to be read in place, at most.

    `shifts` (n, H) says by how many pixels to the left each row of an image moves.
    """
    _, moved = moved_rows(image, shifts)
    cycles: NDArray[np.int64] = moved * moved_row_cycles(image)
    return cycles


Mask = NDArray[np.bool_]


def pixels_averaging(stage: IntegerAveragePooling, x: NDArray[Any], inside: Mask) -> Int64:
    """Return pixels (n, h, w) with approximately the averages x, and 0 where `inside` is false.

    The averages are exact in areas of whole pixels, if a byte suffices.
    """
    areas = stage.pooling
    area, shares = _area_of(areas), shares_of(areas, inside)
    sums = np.rint(x * ((1 << 16) / stage.multiplier))
    wanted = (sums / np.maximum(shares * areas.area, 1))[:, area]
    ordered = np.argsort(np.where(inside, area, areas.n_outputs), axis=None, kind="stable")
    sorted_areas = area.ravel()[ordered]
    place = np.empty(area.size)
    place[ordered] = np.arange(area.size) - np.searchsorted(
        sorted_areas[: inside.sum()], sorted_areas
    )
    count = np.bincount(area[inside], minlength=areas.n_outputs)[area]
    more = place.reshape(area.shape) < np.rint((wanted - np.floor(wanted)) * count)
    pixels: Int64 = np.clip(np.floor(wanted) + more, 0, BYTE_MAXIMUM).astype(np.int64)
    return np.where(inside, pixels, 0)


def shares_of(areas: Areas, inside: Mask) -> NDArray[np.float64]:
    """Return the share of each area, (D,), covered by the pixels (h, w) inside the image."""
    area = _area_of(areas)
    every = np.bincount(area.ravel(), minlength=areas.n_outputs)
    counted = np.bincount(area[inside], minlength=areas.n_outputs)
    return counted / every


def _area_of(areas: Areas) -> Int64:
    """Return (h, w): the number of the area in which each cropped pixel begins."""
    rows, columns = areas.rows, areas.columns
    y = np.arange(rows.pixels) * rows.pixel_units // rows.output_units
    x = np.arange(columns.pixels) * columns.pixel_units // columns.output_units
    return y[:, None] * columns.outputs + x
