"""Points that are windows of a signal: which channels they have, and at what rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.report.figures import channel_colours
from protonn_edge.stages.window_features.channels import channel_names


@dataclass(frozen=True)
class Trace:
    """How a point is drawn as lines.

    Attributes
    ----------
    channels : tuple of str
        Their names, "channel 1" where the model has none.
    samples : int
        Of each channel.
    rate : float or None
        Samples of a channel a second, where it is known.
    """

    channels: tuple[str, ...]
    samples: int
    rate: float | None

    @property
    def words(self) -> str:
        """What the lines are, in a sentence without its end."""
        many = len(self.channels) > 1
        of_each = f"{self.samples:,} samples of {'each channel' if many else 'one channel'}"
        if self.rate is None:
            return of_each
        return f"{of_each} at {self.rate:g} Hz ({self.samples / self.rate:.3g} s)"

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The colours of the channels; none where there is one."""
        if len(self.channels) == 1:
            return ()
        colours = channel_colours(len(self.channels))
        return tuple(zip(colours, self.channels, strict=True))

    def lines(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return levels of a point (features,), sample by sample, as lines (channels, samples)."""
        return levels.reshape(self.samples, len(self.channels)).T


def trace_of(one: Evidence) -> Trace | None:
    """Return how the points of a run are drawn as lines, or None where they are no signals."""
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
    """Return how many channels the names of features tell of; 0 where they tell of none."""
    count = sum(name.endswith("[0]") for name in names)
    return count if count and channel_names(names, count) else 0
