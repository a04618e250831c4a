"""Features of windows of raw samples, with bytes that cover the range of each channel."""

from __future__ import annotations

from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.features.window_features.windows import FeatureSet, Windows
from protonn_edge.model.features import Features
from protonn_edge.model.point_format import PointFormat
from protonn_edge.system.arrays import Array


def window_features(
    features: FeatureSet,
    shape: tuple[int, int],
    scale: ChannelScale,
    rate: float | None = None,
) -> Features:
    """Return features of windows of a shape, which is samples of a channel, and channels."""
    stage = IntegerWindowFeatures(Windows(features, *shape))
    points = PointFormat(scale.quantizer(), shape, is_signal=True, rate=rate)
    return Features(points, (stage,))


def fitted_to(
    X: Array, features: FeatureSet, shape: tuple[int, int], rate: float | None = None
) -> Features:
    """Return features of windows with bytes that cover each channel's range in raw, finite X.

    X (n, window * channels), n >= 1; raises `InputError` if it has another shape.
    """
    return window_features(features, shape, ChannelScale.of_windows(X, shape), rate)


def samples_as_features(X: Array, shape: tuple[int, int], rate: float | None = None) -> Features:
    """Return windows whose features are their samples, with bytes as those of `fitted_to`."""
    scale = ChannelScale.of_windows(X, shape)
    return Features(PointFormat(scale.quantizer(), shape, is_signal=True, rate=rate), ())


def names_of(features: Features) -> tuple[str, ...]:
    """Return the names of features of windows in their order, such as ``channel0_mean``."""
    (stage,) = features.stages
    assert isinstance(stage, IntegerWindowFeatures)
    return tuple(
        f"channel{channel}_{name}"
        for channel in range(stage.window.channels)
        for name in stage.window.features.names
    )
