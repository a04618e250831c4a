"""Signals: raw points that are samples of channels over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protonn_edge.data.naming import channel_names
from protonn_edge.model.limits import SAMPLE_RATES
from protonn_edge.system.errors import InvalidValue, counted

QUIET = 256
"""Samples without an event that a device waits for between two triggered signals."""

_CHANNELS_SHOWN = 12


def check_sample_rate(rate: float | None) -> None:
    """Refuse a rate outside `SAMPLE_RATES`; None, for an unknown rate, passes."""
    slowest, fastest = SAMPLE_RATES
    if rate is not None and not slowest <= rate <= fastest:
        raise InvalidValue(
            "sampling rate", f"{rate:g} Hz, expected {slowest:g} to {fastest:,.0f} Hz"
        )


@dataclass(frozen=True)
class Signal:
    """A sequence of samples: their number per channel, and the sampling rate.

    The rate is None if unknown. If `triggered`, the samples begin where the features detect an
    event, such as a sound; otherwise they may begin anywhere.
    """

    samples: int
    channels: int
    rate: float | None
    triggered: bool = False

    def text(self, names: Sequence[str]) -> str:
        """Return its size for display, with the channels that the features' `names` contain."""
        rate = "" if self.rate is None else f" at {self.rate:g} Hz"
        shown = ", ".join(channel_names(names, self.channels)[:_CHANNELS_SHOWN])
        size = f"{self.samples:,} samples of {counted(self.channels, 'channel')}{rate}"
        return f"{size} ({shown})" if shown else size
