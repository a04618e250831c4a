"""Data augmentation: slight random movements of images and signals, and points of no class.

A random shift, rotation, scaling and smooth distortion together are one linear resampling of the
pixels (bilinear, with the border replicated). Groups of images in a batch share a resampling, so
that it is cheap to draw new ones at every step.

A signal, which is a window of samples, is resampled in time, so that it begins a little earlier or
later and is faster or slower; it also becomes louder or softer, and noisy.

Outlier exposure adds synthetic points of no class, from which a model learns where its classes end.
A model trained only on its classes divides the whole projected space among them: an A differs from
every digit in directions that no digit needed. The synthetic points combine realistic parts in
unrealistic ways: pieces of an image change places, and features of other data are mixed from
different points. Training lowers all classes' scores at these points, at no cost in model size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.shapes import Shape
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InvalidValue

# On MNIST (600 prototypes, validation points) smaller movements without distortion are as good as
# these without it, and larger ones lose 0.2 points; both together gain 0.1. On USPS they make no
# difference.
_SHIFT = 0.0375  # share of the image's height and width
_ROTATION = np.deg2rad(6.0)
_SCALING = 0.06
_DISTORTION = 0.0214  # deviation of a pixel's own shift, in the image's height and width
_DISTORTION_NODES = 5  # nodes along a side, between which it changes smoothly
_NODE_WIDTH = 0.7
_IMAGES_A_GROUP = 16


class ImageAugmentation:
    """Moves a share of the groups of images of each step, above 0, each group differently.

    `images` (n, H W) are all of them; pixels that never change stay constant.
    """

    def __init__(self, images: Float32, shape: tuple[int, int], share: float = 1.0) -> None:
        self._shape, self._share = shape, share
        # A constant pixel has no weight and no range.
        self._constant = np.flatnonzero(images.min(axis=0) == images.max(axis=0))
        self._values = images[0, self._constant]

    def __call__(self, images: Float32, _: Indices, generator: np.random.Generator) -> Float32:
        """Move the images of a step, in place."""
        move(images, self._shape, generator, self._share)
        images[:, self._constant] = self._values
        return images


def move(images: Float32, shape: Shape, generator: np.random.Generator, share: float = 1.0) -> None:
    """Move a share of the images (n, H W), in place, each group differently."""
    groups = np.arange(0, len(images), _IMAGES_A_GROUP)
    if share < 1:
        groups = groups[generator.random(len(groups)) < share]
    pixels, shares = random_resamplings(shape, len(groups), generator)
    for start, places, parts in zip(groups, pixels, shares, strict=True):
        group = slice(start, start + _IMAGES_A_GROUP)
        still = images[group]
        images[group] = sum(
            still[:, place] * part for place, part in zip(places, parts, strict=True)
        )


@dataclass(frozen=True)
class SignalMovement:
    """The maximum movement of a signal in either direction."""

    shift: float  # share of its length
    speed: float  # a factor
    gain: float  # a factor of each channel's distance from its mean
    noise: float  # deviation, in deviations of the channel

    def __call__(
        self,
        signals: Float32,
        shape: Shape,
        generator: np.random.Generator,
        background: Float32 | None = None,
    ) -> Float32:
        """Return signals (n, N C) of `shape` N samples of C channels, each moved independently.

        A signal keeps its first value before its start, and its last one after its end. No value
        leaves the range of its channel in all signals. Background noise (k, N C) is added.
        """
        still = signals.reshape(-1, *shape)
        n, length, channels = still.shape
        speed = _factors(self.speed, (n, 1), generator)
        begin = length * generator.uniform(-self.shift, self.shift, (n, 1))
        moved = self.in_time(still, speed, begin)
        mean = moved.mean(axis=1, keepdims=True)
        gain = _factors(self.gain, (n, 1, channels), generator).astype(np.float32)
        moved = mean + gain * self.equalized(moved - mean, generator)
        noise = generator.standard_normal(moved.shape, dtype=np.float32)
        moved += np.float32(self.noise) * still.std(axis=(0, 1)) * noise
        if background is not None:
            moved += _random_noise(background.reshape(-1, length, channels), n, generator)
        limits = still.min(axis=(0, 1)), still.max(axis=(0, 1))
        clipped: Float32 = np.clip(moved, *limits).reshape(signals.shape)
        return clipped

    def move(
        self, signals: Float32, shape: Shape, generator: np.random.Generator, share: float
    ) -> None:
        """Move a share of the signals (n, N C), in place, each independently."""
        rows = np.flatnonzero(generator.random(len(signals)) < share)
        if len(rows):
            signals[rows] = self(signals[rows], shape, generator)

    def in_time(
        self, still: Float32, speed: NDArray[np.float64], begin: NDArray[np.float64]
    ) -> Float32:
        """Return signals (n, N, C) at other speeds, around their middle, and with other starts."""
        n, length, _ = still.shape
        middle = (length - 1) / 2
        places = (np.arange(length) - middle) * speed + middle + begin
        places = np.clip(places, 0, length - 1)
        before = np.minimum(places.astype(np.int64), length - 2)
        part = (places - before).astype(np.float32)[..., None]
        rows = np.arange(n)[:, None]
        moved: Float32 = still[rows, before] * (1 - part) + still[rows, before + 1] * part
        return moved

    def equalized(self, signals: Float32, _: np.random.Generator) -> Float32:
        """Return signals (n, N, C) without means as another sensor receives them: unchanged."""
        return signals


def _random_noise(noise: Float32, n: int, generator: np.random.Generator) -> Float32:
    """Return n of the signals (k, N, C) without their means, rotated in time, at random gains."""
    length = noise.shape[1]
    rows = generator.integers(len(noise), size=(n, 1))
    places = (np.arange(length) + generator.integers(length, size=(n, 1))) % length
    drawn = noise[rows, places]
    gain = generator.random((n, 1, 1), dtype=np.float32)
    mixed: Float32 = gain * (drawn - drawn.mean(axis=1, keepdims=True))
    return mixed


def _factors(
    most: float, shape: tuple[int, ...], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return factors from 1 / `most` to `most`, with uniformly distributed logarithms."""
    factors: NDArray[np.float64] = most ** generator.uniform(-1.0, 1.0, shape)
    return factors


def check_image_shape(shape: object, n_features: int) -> None:
    """Refuse a shape that is not two positive integers with the product `n_features`."""
    if (
        not isinstance(shape, tuple)
        or len(shape) != 2
        or not all(isinstance(side, int | np.integer) and side > 0 for side in shape)
    ):
        raise InvalidValue("image_shape", f"{shape!r}, expected (height, width), such as (16, 16)")
    check(
        shape[0] * shape[1] == n_features,
        f"image_shape {shape[0]}x{shape[1]}",
        f"{shape[0] * shape[1]:,} pixels",
        f"{n_features:,}, one per feature",
        "give the shape of the images",
    )


def random_resamplings(
    shape: Shape, count: int, generator: np.random.Generator
) -> tuple[Indices, Float32]:
    """Return `count` random resamplings; see `resampling`. Both have shape (count, 4, H W)."""
    sides = np.array(shape, dtype=np.float64)[:, None]
    distortion = _DISTORTION * sides * smooth_fields(shape, (count, 2), generator)
    shift = generator.uniform(-_SHIFT, _SHIFT, (count, 2, 1)) * sides
    angle = generator.uniform(-_ROTATION, _ROTATION, count)
    scale = 1.0 + generator.uniform(-_SCALING, _SCALING, count)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / scale
    return resampling(shape, np.moveaxis(turn, -1, 0), shift + distortion)


def smooth_fields(
    shape: Shape, count: tuple[int, ...], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return random numbers, (..., H W), of deviation 1 that change smoothly over the image.

    They are independent normal numbers at a few nodes, interpolated with Gaussian weights.
    """
    rows, columns = (_node_weights(side) for side in shape)
    nodes = generator.standard_normal((*count, _DISTORTION_NODES, _DISTORTION_NODES))
    fields: NDArray[np.float64] = rows @ nodes @ columns.T
    return fields.reshape(*count, shape[0] * shape[1])


def _node_weights(side: int) -> NDArray[np.float64]:
    """Return the weight of each node along a side for each pixel, (side, nodes)."""
    places = np.linspace(0.0, _DISTORTION_NODES - 1.0, side)[:, None] - np.arange(_DISTORTION_NODES)
    weights = np.exp(-0.5 * np.square(places / _NODE_WIDTH))
    scaled: NDArray[np.float64] = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    return scaled


def resampling(
    shape: tuple[int, int], turn: NDArray[np.float64], shift: NDArray[np.float64]
) -> tuple[Indices, Float32]:
    """Return pixels and shares, both (..., 4, H W), that read each pixel at ``turn p + shift``.

    `turn` (..., 2, 2) is applied to a pixel's row and column, counted from the image's centre, and
    `shift` (..., 2, 1) or (..., 2, H W) is added, in pixels.
    """
    last = np.array(shape, dtype=np.float64)[:, None] - 1.0
    grid = np.indices(shape).reshape(2, -1) - last / 2
    source = np.clip(turn @ grid + shift + last / 2, 0.0, last)
    corner = np.floor(np.minimum(source, np.maximum(last - 1.0, 0.0)))
    down, right = np.moveaxis(source - corner, -2, 0)
    row, column = np.moveaxis(corner.astype(np.int64), -2, 0)
    below, beside = np.minimum(row + 1, shape[0] - 1), np.minimum(column + 1, shape[1] - 1)
    pixels, shares = [], []
    for rows, of_rows in ((row, 1.0 - down), (below, down)):
        for columns, of_columns in ((column, 1.0 - right), (beside, right)):
            pixels.append(rows * shape[1] + columns)
            shares.append(of_rows * of_columns)
    return np.stack(pixels, axis=-2), np.stack(shares, axis=-2).astype(np.float32)


# Numbers of pieces along each side of an image. On USPS and scikit-learn's digits, quarters and
# sixteenths together made models reject more symbols and Greek letters (validation points) than
# also using permuted pixels, images spliced from two, or rotated images.
_CUTS = (2, 4)


def make_exposure_points(
    points: Float32, shape: tuple[int, int] | None, count: int, generator: np.random.Generator
) -> Float32:
    """Return points of no class, (count, D) float32, of raw points (n, D), perhaps images."""
    if shape is None:
        rows = generator.integers(0, len(points), (count, points.shape[1]))
        return points[rows, np.arange(points.shape[1])]
    chosen = points[generator.integers(0, len(points), count)].reshape(-1, *shape)
    parts = np.array_split(chosen, len(_CUTS))
    moved = [_rearranged(part, cuts, generator) for part, cuts in zip(parts, _CUTS, strict=True)]
    return np.concatenate(moved).reshape(count, -1)


def _rearranged(images: Float32, cuts: int, generator: np.random.Generator) -> Float32:
    """Return images (n, H, W) with permuted pieces; the remainder at the border stays."""
    n, height, width = images.shape
    rows, columns = min(cuts, height), min(cuts, width)
    high, wide = height // rows, width // columns
    split = (n, rows, high, columns, wide)
    part = images[:, : rows * high, : columns * wide].reshape(split).swapaxes(2, 3)
    pieces = part.reshape(n, rows * columns, high, wide)
    order = _permutations(n, rows * columns, generator)
    pieces = np.take_along_axis(pieces, order[:, :, None, None], axis=1)
    back = pieces.reshape(n, rows, columns, high, wide).swapaxes(2, 3)
    moved = images.copy()
    moved[:, : rows * high, : columns * wide] = back.reshape(n, rows * high, columns * wide)
    return moved


def _permutations(n: int, size: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return n permutations (n, size), none the identity unless size is 1."""
    order = generator.permuted(np.tile(np.arange(size), (n, 1)), axis=1)
    unmoved = (order == np.arange(size)).all(axis=1)
    order[unmoved] = np.roll(order[unmoved], 1, axis=1)
    return order
