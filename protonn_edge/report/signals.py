"""Points that are windows of a signal: their channels and their rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.report.figures import channel_colours
from protonn_edge.stages.window_features.channels import channel_names


@dataclass(frozen=True)
class Trace:
    """The drawing of a point as lines.

    Attributes
    ----------
    channels : tuple of str
        Their names, "channel 1" if the model has none.
    samples : int
        Number of samples per channel.
    rate : float or None
        Samples per second of a channel, if known.
    """

    channels: tuple[str, ...]
    samples: int
    rate: float | None

    @property
    def words(self) -> str:
        """A description of the lines, the beginning of a sentence."""
        many = len(self.channels) > 1
        of_each = f"{self.samples:,} samples of {'each channel' if many else 'one channel'}"
        if self.rate is None:
            return of_each
        return f"{of_each} at {self.rate:g} Hz ({self.samples / self.rate:.3g} s)"

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The colours of the channels; none for a single one."""
        if len(self.channels) == 1:
            return ()
        colours = channel_colours(len(self.channels))
        return tuple(zip(colours, self.channels, strict=True))

    def lines(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return levels of a point (features,), sample by sample, as lines (channels, samples)."""
        return levels.reshape(self.samples, len(self.channels)).T


def trace_of(one: Evidence) -> Trace | None:
    """Return the drawing of a run's points as lines, or None if they are not signals."""
    model, stage = one.model, one.model.feature_stage
    signal = None if stage is None else stage.signal
    if signal is not None:
        count, rate = signal.channels, signal.rate
    else:
        rate, count = None, _named_channels(model.feature_names)
        if count == 0 and one.image_shape is not None and one.image_shape[0] == 1:
            count = 1
    if count == 0:
        return None
    names = channel_names(model.feature_names, count)
    default = tuple(f"channel {i + 1}" for i in range(count))
    return Trace(names or default, model.n_features // count, rate)


def _named_channels(names: tuple[str, ...]) -> int:
    """Return the number of channels in the names of features; 0 if there are none."""
    count = sum(name.endswith("[0]") for name in names)
    return count if count and channel_names(names, count) else 0
