"""The float form of a stage that computes features of raw points, before a classifier.

A kind of feature is a folder of `protonn_edge.features` with a subclass of `FeatureStage`, and
a `FeatureRequest` in ``train``. Models, model files, quantization, generated code, exports
and reports use this interface.

The synthetic points for the self-test of a device without data are generated with integers only, so
every machine generates the same ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.activity import Sizes
from protonn_edge.chain.checks import Arrays
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage, stage_names
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.datasets.naming import channel_names
from protonn_edge.errors import InputError, counted

Bytes = NDArray[np.uint8]

_PLACES = 16  # subpixel positions of a stroke's points
_STEPS = 24  # along a stroke
_STROKES = 3  # maximum per image
_CHANNELS_SHOWN = 12
_VALUES_AT_ONCE = 2**20  # raw values whose features are computed at once


def signals(n_samples: int, n_channels: int, count: int) -> Bytes:
    """Return windows (count, n_samples n_channels), each channel a triangle with noise."""
    generator = Random(0)  # noqa: S311  (no secret)
    windows = [_window(n_samples, n_channels, generator) for _ in range(count)]
    return np.array(windows, np.uint8).reshape(count, -1)


def drawings(height: int, width: int, count: int) -> Bytes:
    """Return images (count, height width) of one to three curved strokes on an empty background.

    The pen's width is a tenth of the longer side, and its edge fades over a pixel.
    """
    generator = Random(0)  # noqa: S311  (no secret)
    images = np.zeros((count, height * width), np.uint8)
    for image in images:
        for _ in range(1 + _drawn(generator, _STROKES)):
            np.maximum(image, _stroke(height, width, generator), out=image)
    return images


def _stroke(height: int, width: int, generator: Random) -> Bytes:
    """Return a stroke, (height width): a quadratic Bezier curve between random points."""
    size = np.array([height, width]) * _PLACES
    begin, bend, end = (
        np.array([_drawn(generator, int(side)) for side in size])[:, None] for _ in range(3)
    )
    t = np.arange(_STEPS + 1)
    left = _STEPS - t
    path = (left * left * begin + 2 * left * t * bend + t * t * end) // _STEPS**2
    y, x = (np.indices((height, width)).reshape(2, -1, 1) * 2 + 1) * _PLACES // 2
    near = ((y - path[0]) ** 2 + (x - path[1]) ** 2).min(axis=1)
    pen = max(height, width) * _PLACES // 20
    inner, outer = pen**2, (pen + _PLACES) ** 2
    inked = (outer - near) * BYTE_MAXIMUM // (outer - inner)
    stroke: Bytes = np.clip(inked, 0, BYTE_MAXIMUM).astype(np.uint8)
    return stroke


def _window(samples: int, n_channels: int, generator: Random) -> list[int]:
    """Return the bytes of a window, each channel a triangle wave of random height and period."""
    channels = []
    for _ in range(n_channels):
        middle, height = _drawn(generator, 256), 1 + _drawn(generator, 127)
        period, noise = 2 + _drawn(generator, 63), 1 + _drawn(generator, 16)
        values = []
        for t in range(samples):
            place = 4 * height * (t % period) // period
            triangle = place if place < 2 * height else 4 * height - place
            value = middle - height + triangle + _drawn(generator, noise)
            values.append(min(max(value, 0), BYTE_MAXIMUM))
        channels.append(values)
    return [values[t] for t in range(samples) for values in channels]


def _drawn(generator: Random, below: int) -> int:
    """Return a random integer in 0..below - 1; Python guarantees the sequence of `random`."""
    return int(generator.random() * below)


SAMPLE_RATES = (1e-3, 1e6)  # the range of samples per second of a channel


def check_sample_rate(rate: float | None) -> None:
    """Refuse a rate outside `SAMPLE_RATES`; None, for an unknown rate, passes."""
    slowest, fastest = SAMPLE_RATES
    if rate is not None and not slowest <= rate <= fastest:
        raise InputError(f"the sampling rate is {rate:g} Hz; give {slowest:g} to {fastest:,.0f} Hz")


Shape = tuple[int, int]
Facts = tuple[tuple[str, str], ...]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Signal:
    """A sequence of samples: their number per channel, and the sampling rate.

    The rate is None if unknown. With `from_onset`, the samples begin where ``pnn_onset`` of the
    generated C detects a sound; otherwise they may begin anywhere.
    """

    samples: int
    channels: int
    rate: float | None
    from_onset: bool = False

    def text(self, names: Sequence[str]) -> str:
        """Return its size for display, with the channels that the features' `names` contain."""
        rate = "" if self.rate is None else f" at {self.rate:g} Hz"
        shown = ", ".join(channel_names(names, self.channels)[:_CHANNELS_SHOWN])
        size = f"{self.samples:,} samples of {counted(self.channels, 'channel')}{rate}"
        return f"{size} ({shown})" if shown else size


@dataclass(frozen=True, eq=False)
class Seen:
    """A stage's view of a point that is an image, for a picture; positions are in pixels."""

    image: Float64  # (h, w): the crop of the image as the stage processes it, 0 (paper) to 1 (ink)
    # positions of lines between the areas of the stage
    rows: tuple[float, ...]
    columns: tuple[float, ...]
    strokes: Float64  # (n, 4): detected strokes as lines (x, y, dx, dy), longer if stronger
    words: str  # the meaning of the strokes, as a sentence


class RawPoints(ABC):
    """The kind of raw points, and their conversion to the bytes that a device receives."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of values of a raw point; the device receives each as a byte."""

    @property
    @abstractmethod
    def scale(self) -> InputQuantizer | None:
        """The conversion of raw values to the device's bytes, for interleaved channels.

        None if features have the unit and the common range of the raw values, as averages of pixels
        do: the conversion then follows from the classifier's inputs. All other kinds choose the
        conversion in training, and a `RawQuantizer` maps their features to the classifier's bytes.
        """

    @property
    def n_channels(self) -> int | None:
        """Number of interleaved channels, each with a range; None if all values have one range."""
        return None if self.scale is None else len(self.scale.zero)

    @property
    def signal(self) -> Signal | None:
        """The samples of a raw point that is a signal; otherwise None."""
        return None

    @property
    def drawn_shape(self) -> Shape | None:
        """Height and width of a raw point when drawn: an image's, or 1 by n for one channel."""
        one = self.signal is not None and self.signal.channels == 1
        return (1, self.n_features) if one else None

    def raw_ends(self, *ends: Float64) -> tuple[Float64, ...]:
        """Return ends of raw values, per channel or for all, from ends of features (D,)."""
        if self.scale is None:
            return tuple(end[:1] for end in ends)
        zero, end = self.scale.zero, self.scale.end
        return np.minimum(zero, end), np.maximum(zero, end)

    def device_inputs(self, inputs: InputQuantizer) -> InputQuantizer:
        """Return the conversion of raw points to bytes, (features,); `inputs` converts features."""
        n = self.n_features
        if self.scale is not None:
            zeros, steps = (np.resize(each, n) for each in (self.scale.zero, self.scale.step))
            return replace(self.scale, zero=zeros, step=steps)
        finer = inputs.maximum / BYTE_MAXIMUM
        zero, step = float(inputs.zero[0]), float(inputs.step[0]) * finer
        return InputQuantizer(np.full(n, zero), np.full(n, step), BYTE_MAXIMUM)

    def to_bytes(self, X: NDArray[Any]) -> Bytes:
        """Return raw points (n, features) as bytes by `scale`, of the same shape."""
        scale = self.scale
        assert scale is not None, "else bytes depend on the classifier's inputs"
        channels = X.reshape(-1, len(scale.zero))
        return scale.steps(channels).reshape(X.shape)

    def examples(self, count: int) -> Bytes:
        """Return synthetic points (count, features), always the same: drawings, or windows."""
        shape = self.drawn_shape
        if shape is not None and min(shape) > 1:
            return drawings(*shape, count)
        channels = self.n_channels or 1
        return signals(self.n_features // channels, channels, count)


class FeatureStage(RawPoints):
    """Maps raw points to the inputs of a classifier.

    A subclass is a frozen dataclass; its constructor refuses values that generated code cannot
    compute. Its fields define its arithmetic, and a model's hash includes the fields in its `repr`.
    """

    kind: ClassVar[str]  # its name in the registry, and in a model's hash
    layers: tuple[IntegerStage, ...] = ()  # its integer stages that do not depend on the classifier
    # what to try in training for less flash, SRAM and time, if the stage takes most of these
    smaller: ClassVar[tuple[str, ...]] = ()
    ARRAYS: ClassVar[tuple[str, ...]]  # names of its arrays in a model file
    # whether all features are mapped to bytes by one range: without a `scale` by that of the raw
    # values, otherwise by the common range of all features, whose start is the background
    one_range: ClassVar[bool] = True

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of features, the D inputs of the classifier."""

    @property
    def title(self) -> str:
        """Its name if its values are scores, which the classifier only passes on; else empty."""
        return ""

    @property
    def does(self) -> str:
        """A predicate for sentences that begin with "the model", such as "pools images"."""
        return "computes features"

    def apply(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return features (n, D) of raw points (n, features): float32 for float32, else float64.

        They are exactly the values of the integer stages before their conversion to bytes, so that
        a model is trained on the features of the device. Memory is bounded for many points.
        """
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        features = np.empty((len(X), self.n_outputs), dtype)
        at_once = max(1, _VALUES_AT_ONCE // self.n_features)
        for start in range(0, len(X), at_once):
            rows = slice(start, start + at_once)
            features[rows] = self.features_of(X[rows])
        return features

    @abstractmethod
    def features_of(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the features (n, D), of any type, of some of the raw points; see `apply`."""

    @abstractmethod
    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerStage, ...]:
        """Return the stages that compute the features on a device, from raw bytes to `inputs`.

        `inputs` converts features to the classifier's bytes. Raises `InputError` if generated code
        cannot hold the numbers.
        """

    @abstractmethod
    def to_arrays(self) -> Arrays:
        """Return the stage's arrays for a model file; see `ARRAYS`."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Build the stage from a model file's arrays, None without them; `InputError` if wrong."""

    @abstractmethod
    def describe(self, names: Sequence[str]) -> dict[str, Any]:
        """Return a description for JSON; `names`, of a raw point's values, may be empty."""

    def facts(self, names: Sequence[str]) -> Facts:  # noqa: ARG002  (for those that show them)
        """Return a description as rows for display."""
        return (
            ("features", f"{self.n_features:,}"),
            ("features D", f"{self.n_outputs:,}: the model {self.does}"),
        )

    @property
    def matrix(self) -> Float64 | None:
        """The equivalent matrix (D, features), or None if there is none."""
        return None

    def invert(self, x: NDArray[Any], inputs: InputQuantizer) -> Bytes | None:  # noqa: ARG002
        """Return points (n, features) for the device whose features are approximately x, (n, D).

        x are inputs of the classifier's own stages, see `integer_stages`. None if such points
        cannot be computed; an export's self-test then uses `examples`.
        """
        return None

    @property
    def whole_maximum(self) -> int | None:
        """The largest feature if features are integers from 0, used unchanged; otherwise None."""
        return None

    @property
    def activity_sizes(self) -> Sizes:
        """The numbers of shares in the activity of its integer stages; see `Activity`."""
        layers: tuple[IntegerStage, ...] = getattr(self, "stages", self.layers)
        names = stage_names(layer.kind for layer in layers)
        every = (each.activity(np.zeros((1, each.n_inputs), np.uint8)) for each in layers)
        sizes = zip(names, (tuple(map(len, each)) for each in every), strict=True)
        return {name: each for name, each in sizes if each}


def ranged(stage: FeatureStage, statistics: InputStatistics) -> InputStatistics:
    """Return the statistics of features with the ranges that these need."""
    stages: tuple[IntegerStage, ...] = getattr(stage, "stages", ())
    if stages:
        return stages[-1].ranged(statistics)
    if not stage.one_range:
        return statistics
    if stage.whole_maximum is not None:
        return statistics.of_whole_numbers(stage.whole_maximum)
    return statistics.with_one_range()
