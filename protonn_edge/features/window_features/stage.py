"""Features of windows of raw samples as part of the model; `windows` defines them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Arrays, parsed_json
from protonn_edge.chain.feature_stage import Facts, FeatureStage, Signal, check_sample_rate
from protonn_edge.chain.input_quantizer import InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage, Range
from protonn_edge.chain.raw_inputs import RawQuantizer, raw_quantizer
from protonn_edge.datasets.naming import channel_names
from protonn_edge.errors import InputError
from protonn_edge.features.window_features.scale import ChannelScale
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


@dataclass(frozen=True)
class WindowFeatureStage(Windows, FeatureStage):
    """The features of a window of raw samples; it has the fields of `Windows`, too.

    Raises `InputError` if a number is out of range, or a band would have no sample.
    """

    kind: ClassVar[str] = "window_features"
    does: ClassVar[str] = "computes features of windows"
    ARRAYS: ClassVar[tuple[str, ...]] = ("pipeline",)
    one_range: ClassVar[bool] = False

    zero: tuple[float, ...]  # each channel's raw value at or below which the byte is 0
    step: tuple[float, ...]  # raw units per step, above 0
    # sampling rate of a channel, within `SAMPLE_RATES`, for reading the sensor; no feature depends
    # on it, so it is not hashed
    rate: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        scale = ChannelScale(self.zero, self.step, self.channels)
        object.__setattr__(self, "zero", scale.zero)
        object.__setattr__(self, "step", scale.step)
        check_sample_rate(self.rate)

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
        scale = ChannelScale.of_windows(X, shape)
        return cls(features, *shape, scale.zero, scale.step, rate)

    @property
    def scale(self) -> InputQuantizer:
        """The conversion of each channel's samples to bytes."""
        return ChannelScale(self.zero, self.step, self.channels).quantizer()

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
        return (
            ("samples", f"{self.n_features:,}: {self.signal.text(names)}"),
            ("features D", f"{self.n_outputs:,}: {self.features.text}"),
        )
