"""Features of windows of raw samples as part of the model; `windows` defines them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Arrays, parsed_json
from protonn_edge.chain.feature_stage import Facts, FeatureStage, Signal
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage, Range
from protonn_edge.chain.raw_inputs import RawQuantizer, raw_quantizer
from protonn_edge.datasets.naming import channel_names
from protonn_edge.errors import InputError
from protonn_edge.features.window_features.windows import FeatureSet, Windows


@dataclass(frozen=True, eq=False)
class IntegerWindowFeatures(IntegerStage):
    """Maps the samples of a window to its features, quantized to bytes."""

    kind: ClassVar[str] = "window_features"

    window: Windows  # the features
    quantizer: RawQuantizer  # the quantizer of features

    @property
    def n_inputs(self) -> int:
        """Samples of all channels."""
        return self.window.n_features

    @property
    def output(self) -> Range:
        """The range of the bytes."""
        return Range.of_bytes(self.window.n_outputs, self.quantizer.maximum)

    def run(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the features (n, F), as bytes, of windows of bytes (n, N C)."""
        return self.quantizer.quantize(self.window.of_bytes(x))


SAMPLE_RATES = (1e-3, 1e6)  # the range of samples per second of a channel
_CHANNELS_SHOWN = 12


@dataclass(frozen=True)
class WindowFeatureStage(Windows, FeatureStage):
    """The features of a window of raw samples; it has the fields of `Windows`, too.

    Raises `InputError` if a number is out of its range, or a level of the bands would have no
    sample.
    """

    kind: ClassVar[str] = "window_features"
    does: ClassVar[str] = "makes features of windows"
    ARRAYS: ClassVar[tuple[str, ...]] = ("pipeline",)
    one_range: ClassVar[bool] = False

    zero: tuple[float, ...]  # the raw value of each channel for the byte 0, or for those below
    step: tuple[float, ...]  # raw units per step, above 0
    # samples per second of a channel, within `SAMPLE_RATES`, for reading the sensor; no feature
    # depends on it, so it is not hashed
    rate: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("zero", "step"):
            numbers = tuple(float(number) for number in getattr(self, name))
            object.__setattr__(self, name, numbers)
            if len(numbers) != self.channels or not all(map(math.isfinite, numbers)):
                raise InputError(
                    f"the samples' {name} is not a finite number for each of {self.channels} "
                    "channels; train the model again"
                )
        if min(self.step) <= 0:
            raise InputError("a step of the samples is not above 0; train the model again")
        slowest, fastest = SAMPLE_RATES
        if self.rate is not None and not slowest <= self.rate <= fastest:
            raise InputError(
                f"the sampling rate is {self.rate:g}; give {slowest:g} to {fastest:g} samples a "
                "second"
            )

    @classmethod
    def fitted(
        cls,
        features: FeatureSet,
        shape: tuple[int, int],
        X: NDArray[Any],
        rate: float | None = None,
    ) -> Self:
        """Return the stage with bytes that cover each channel's range in raw, finite windows X.

        - `shape`: samples of a channel, and channels.
        - `X` (n, window * channels), n >= 1; raises `InputError` if it has another shape.
        """
        window, channels = shape
        if X.ndim != 2 or min(shape) < 1 or X.shape[1] != window * channels:
            raise InputError(
                f"windows of {window}x{channels} have {window * channels:,} samples, but the "
                f"points have {math.prod(X.shape[1:]):,} features; give the samples and channels "
                "of a window"
            )
        samples = X.reshape(-1, channels)
        lower = samples.min(axis=0).astype(np.float64)
        extent = samples.max(axis=0).astype(np.float64) - lower
        step = np.where(extent > 0, extent / BYTE_MAXIMUM, 1.0)
        return cls(features, window, channels, tuple(lower.tolist()), tuple(step.tolist()), rate)

    @property
    def scale(self) -> InputQuantizer:
        """The conversion of each channel's samples to bytes."""
        return InputQuantizer(np.array(self.zero), np.array(self.step), BYTE_MAXIMUM)

    @property
    def signal(self) -> Signal:
        """A window."""
        return Signal(self.window, self.channels, self.rate)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features' names in their order, such as ``channel0_mean``."""
        return tuple(
            f"channel{channel}_{name}"
            for channel in range(self.channels)
            for name in self.features.names
        )

    def features_of(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the features (n, D) of raw windows (n, N C)."""
        return self.of_bytes(self.to_bytes(X))

    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerWindowFeatures]:
        """Return the stage that computes features, quantized to bytes."""
        return (IntegerWindowFeatures(self, raw_quantizer(inputs)),)

    def to_arrays(self) -> Arrays:
        """Return the bytes of the declaration, as JSON."""
        declared = asdict(self) | {"features": self.features.text}
        text = json.dumps(declared, sort_keys=True, allow_nan=False)
        return {"pipeline": np.frombuffer(text.encode(), dtype=np.uint8)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Return the window features of a model file's arrays, or None."""
        if "pipeline" not in arrays:
            return None
        declared = parsed_json(arrays["pipeline"], "pipeline")
        wanted = {"features": str, "window": int, "channels": int, "zero": list, "step": list}
        rate = declared.pop("rate", None) if isinstance(declared, dict) else None
        usable = (
            isinstance(declared, dict)
            and {name: type(value) for name, value in declared.items()} == wanted
            and all(type(number) is float for name in ("zero", "step") for number in declared[name])
            and (rate is None or type(rate) is float)
        )
        if not usable:
            raise InputError(
                "array 'pipeline' does not declare window features; train the model again"
            )
        return cls(FeatureSet.of(declared.pop("features")), rate=rate, **declared)

    def describe(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the declaration, and the names of the channels."""
        return {
            "features": self.features.text,
            "window": self.window,
            "channels": self.channels,
            "channel_names": list(channel_names(names, self.channels)),
            "sample_rate": self.rate,
        }

    def facts(self, names: Sequence[str]) -> Facts:
        """Return the size of windows, and the features."""
        rate = "" if self.rate is None else f" at {self.rate:g} Hz"
        shown = ", ".join(channel_names(names, self.channels)[:_CHANNELS_SHOWN])
        shape = f"{self.window:,} of {self.channels} channels{rate}"
        shape += f" ({shown})" if shown else ""
        return (
            ("samples", f"{self.n_features:,}: {shape}"),
            ("features D", f"{self.n_outputs:,}: {self.features.text}"),
        )
