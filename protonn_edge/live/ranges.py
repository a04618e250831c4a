"""Compare the ranges of a sensor's values and of those that a model was trained on."""

from __future__ import annotations

import numpy as np

from protonn_edge.errors import InputError
from protonn_edge.quantization import IntegerChain
from protonn_edge.sensors import SensorKind

_BEYOND = 0.5  # of the sensor's range: training may widen the range of its data
_SHORT = 0.01  # of the full scale of sound, by which a range may differ


def check_range(model: IntegerChain, kinds: tuple[SensorKind, ...], *, full_scale: bool) -> None:
    """Refuse a model that was trained on other values than those of the channels that it uses.

    Parameters
    ----------
    model : IntegerChain
        Its features are samples of the channels, interleaved.
    kinds : tuple of SensorKind
        The sensor of each channel.
    full_scale : bool
        Whether the model's range is that of all possible samples instead of the data's.

    Raises
    ------
    InputError
    """
    scale = model.features
    for channel, kind in enumerate(kinds):
        ends = np.concatenate([each[channel :: len(kinds)] for each in (scale.zero, scale.end)])
        low, high, extent = float(ends.min()), float(ends.max()), kind.high - kind.low
        beyond = max(kind.low - low, high - kind.high)
        missing = max(low - kind.low, kind.high - high)
        if beyond > _BEYOND * extent or (full_scale and missing > _SHORT * extent):
            raise InputError(
                f"the model was trained on values from {low:,.0f} to {high:,.0f}, but {kind.name} "
                f"gives {kind.low:,} to {kind.high:,}; train it on what 'protonn-edge record' "
                "wrote"
            )
