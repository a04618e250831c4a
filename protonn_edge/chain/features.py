"""The features of a model: the form of its raw points, and the stages that compute features."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain import stored
from protonn_edge.chain.checks import set_checked
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage, run_through
from protonn_edge.chain.shapes import Shape
from protonn_edge.chain.signals import Signal, check_sample_rate
from protonn_edge.errors import InvalidValue
from protonn_edge.system.checks import check

_VALUES_AT_ONCE = 2**20  # raw values whose features are computed at once


@dataclass(frozen=True, eq=False)
class PointFormat:
    """The form of raw points, and their conversion to the bytes that a device receives."""

    # the conversion of each of the interleaved channels, or of all values, (1,)
    scale: InputQuantizer
    # of an image: height, width and, if there are several, channels; of a signal: samples, channels
    shape: tuple[int, ...]
    is_signal: bool = False
    # sampling rate of a signal, for reading the sensor; no feature depends on it
    rate: float | None = field(default=None, repr=False)
    # whether a signal is a clip that begins where a sound is heard
    from_onset: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        _check_scale(self.scale)
        check(
            min(self.shape, default=0) >= 1 and math.prod(self.shape) % len(self.scale.zero) == 0,
            f"points of the shape {self.shape}",
            f"{len(self.scale.zero)} channels",
            "a divisor of the number of values",
            "train the model again",
        )
        check_sample_rate(self.rate)

    @property
    def n_features(self) -> int:
        """Number of values of a raw point."""
        return math.prod(self.shape)

    @property
    def signal(self) -> Signal | None:
        """The samples of a raw point that is a signal; otherwise None."""
        if not self.is_signal:
            return None
        samples, channels = self.shape
        return Signal(samples, channels, self.rate, self.from_onset)

    @property
    def drawn_shape(self) -> Shape | None:
        """Height and width of a raw point when drawn: an image's, or 1 by n for one channel."""
        first, second, *others = self.shape
        if self.is_signal:
            return (1, first) if second == 1 else None
        return None if others or self.n_features == 1 else (first, second)

    @property
    def quantizer(self) -> InputQuantizer:
        """The conversion of each value of a raw point to a byte."""
        ends = self.scale.zero, self.scale.step
        zeros, steps = (np.resize(each, self.n_features) for each in ends)
        return replace(self.scale, zero=zeros, step=steps)

    def to_bytes(self, X: NDArray[Any]) -> NDArray[np.uint8]:
        """Return raw points (n, features) as bytes, of the same shape."""
        channels = X.reshape(-1, len(self.scale.zero))
        return self.scale.steps(channels).reshape(X.shape)


def _check_scale(scale: InputQuantizer) -> None:
    zero, step = scale.zero, scale.step
    usable = zero.ndim == 1 and zero.shape == step.shape and len(zero) > 0
    if usable:
        largest = float(np.finfo(np.float32).max)
        numbers = np.abs(np.concatenate([zero, step.astype(np.float64)]))
        usable = bool((numbers <= largest).all() and (step != 0).all())
    if usable and step.dtype == np.float32:
        # The quotient is rounded as it is for each value: `zero` is itself a rounded product.
        at_zero = np.rint(zero / step)
        usable = bool(((at_zero >= -BYTE_MAXIMUM) & (at_zero <= 0)).all())
    if not usable or not 1 <= scale.maximum <= BYTE_MAXIMUM:
        raise InvalidValue(
            "the scale of the values",
            f"no bytes for the zero points {_few(zero)} and the steps {_few(step)}",
            "train the model again",
        )


def _few(numbers: NDArray[Any]) -> str:
    return ", ".join(f"{number:g}" for number in numbers.ravel()[:_SHOWN])


_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Features:
    """What computes the inputs of a classifier from raw points: a chain of stages, from bytes.

    The last stage may need the classifier's inputs; before these are known, its values are floats.

    Raises `InputError` if the stages do not fit together.
    """

    kind: str  # the kind of features
    points: PointFormat  # the form of raw points, which become the bytes
    stages: tuple[IntegerStage, ...]

    def __post_init__(self) -> None:
        before: IntegerStage | None = None
        linked: list[IntegerStage] = []
        for number, stage in enumerate(self.stages):
            given = self.points.n_features if before is None else before.n_outputs
            check(
                stage.n_inputs == given,
                f"stage {number + 1} of the features",
                f"{stage.n_inputs:,} values",
                f"{given:,}",
                "train the model again",
            )
            before = stage
        behind: tuple[IntegerStage, ...] = ()
        for place in reversed(range(len(self.stages))):
            before = self.stages[place - 1] if place else None
            linked.insert(0, self.stages[place].among(before, behind))
            behind = tuple(linked)
        if not linked:
            raise InvalidValue("the features", "no stages", "give at least one")
        set_checked(self, "stages", tuple(linked))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Features) and stored.same(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_outputs(self) -> int:
        """Number of features, the D inputs of the classifier."""
        return self.stages[-1].n_outputs

    @property
    def title(self) -> str:
        """The title of a stage that computes scores, which the classifier only passes on."""
        return next((stage.title for stage in self.stages if stage.title), "")

    def apply(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return features (n, D) of raw points (n, features): float32 for float32, else float64.

        They are exactly the values of the integer stages before their conversion to bytes, so that
        a model is trained on the features of the device. Memory is bounded for many points.
        """
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        features = np.empty((len(X), self.n_outputs), dtype)
        at_once = max(1, _VALUES_AT_ONCE // self.points.n_features)
        for start in range(0, len(X), at_once):
            rows = slice(start, start + at_once)
            features[rows] = run_through(self.stages, self.points.to_bytes(X[rows]))
        return features

    def feeding(self, inputs: InputQuantizer) -> tuple[IntegerStage, ...]:
        """Return the stages that compute the inputs of a classifier; `inputs` converts features."""
        return (*self.stages[:-1], self.stages[-1].feeding(inputs))


def signal_of(features: Features | None) -> Signal | None:
    """Return the samples of a raw point that is a signal; otherwise None."""
    return None if features is None else features.points.signal
