"""Points that are added for the training: moved copies, and strangers without a class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from protonn_edge.learn.augmentation import make_exposure_points, move
from protonn_edge.learn.features import window_shape
from protonn_edge.learn.input_space import check_image, count_inputs
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import Float32, Points, check_finite
from protonn_edge.system.errors import InputError

_COPIES_LIMIT = 2**30  # bytes


def with_copies(settings: SharedParameters, points: Points, seed: int) -> Points:
    """Return the points, followed by copies of all of them, each moved at random."""
    if not settings.copies:
        return points
    times = 1 + settings.copies
    weight, group = (
        None if each is None else np.concatenate([each] * times)
        for each in (points.weight, points.group)
    )
    moved = _moved(settings, points.X, np.random.default_rng([seed, 2]))
    return Points(
        np.concatenate([points.X, *moved]), np.concatenate([points.y] * times), weight, group
    )


def _moved(
    settings: SharedParameters, points: Float32, generator: np.random.Generator
) -> Iterator[Float32]:
    """Yield the copies of points (n, features), each of all of them, moved at random."""
    count_inputs(settings, points)  # refuses shapes that do not fit
    needed = settings.copies * points.nbytes
    if needed > _COPIES_LIMIT:
        raise InputError(
            f"{settings.copies} copies of the points need {needed:,} B of memory, but the limit is "
            f"{_COPIES_LIMIT:,}; use fewer copies"
        )
    asked, image, noise = settings.asked, settings.image_shape, settings.background_noise
    if noise is not None:
        with np.errstate(over="ignore"):
            noise = np.asarray(noise, np.float32)
        check_finite(noise, "background_noise")
        if noise.ndim != 2 or noise.shape[1] != points.shape[1] or not len(noise):
            raise InputError(
                f"background_noise has the shape {noise.shape}, but the points have "
                f"{points.shape[1]:,} values; give windows of noise as long as the points"
            )
    for _ in range(settings.copies):
        if image is not None:
            copy = points.copy()
            move(copy, image, generator)
            yield copy
        elif asked is not None:  # or it is refused
            yield asked.movement(points, window_shape(settings, points), generator, noise)


def with_strangers(settings: SharedParameters, points: Points, n_classes: int, seed: int) -> Points:
    """Return the points, followed by some of no class, made of parts of points, in group 0."""
    if not settings.strangers:
        return points
    check_image(settings.image_shape, points.X)
    count = max(1, round(float(settings.strangers) * len(points)))
    generator = np.random.default_rng([seed, 1])
    made = make_exposure_points(points.X, settings.image_shape, count, generator)
    weight, group = points.weight, points.group
    return Points(
        np.concatenate([points.X, made]),
        np.concatenate([points.y, np.full(count, n_classes)]),
        None if weight is None else np.concatenate([weight, np.ones(count, dtype=np.float32)]),
        None if group is None else np.concatenate([group, np.zeros(count, np.int64)]),
    )
