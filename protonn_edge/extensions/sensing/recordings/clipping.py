"""Channels of a recording that were cut off at the end of a sensor's range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, quoted
from protonn_edge.data.points.dataset import Float32
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import percent

_FEWEST_LEVELS = 16  # of a channel that is not only on or off
_FEWEST_SAMPLES = 10  # at an end of the range,
_SHARE = 0.01  # of a take,
_TIMES = 5  # as many as at each of the next levels


def about_clipping(
    X: Float32, take_of: NDArray[np.int64] | None, names: Sequence[str]
) -> Iterator[Notice]:
    """Yield a warning for each channel of samples X (n, channels) that stays at an end."""
    take_of = np.zeros(len(X), np.int64) if take_of is None else take_of
    counts = np.unique(take_of, return_counts=True)[1]
    takes = np.split(np.argsort(take_of, kind="stable"), np.cumsum(counts)[:-1])
    for channel, values in enumerate(X.T):
        found = [cut for take in takes if (cut := _cut_off(values[take]))]
        if not found:
            continue
        share, end = max(found)
        which = quoted(names[channel]) if names else f"{channel + 1}"
        where = f" in {len(found):,} of {counted(len(takes), 'take')}" if len(takes) > 1 else ""
        text = (
            f"channel {which} stays at an end of its range{where}, such as at {end:g} for "
            f"{percent(share, 1)} of the samples; if it is cut off there, record with a larger "
            "range, or less loud"
        )
        yield Notice("clipping", text, warning=True, columns=tuple(names[channel : channel + 1]))


def _cut_off(x: Float32) -> tuple[float, float] | None:
    """Return the largest share of samples (n,) that stay at an end, and this end.

    Zero may be a floor, as of light at night.
    """
    levels, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    if len(levels) < _FEWEST_LEVELS:
        return None
    found = []
    for end, count, others in (
        (levels[0], counts[0], counts[1:4]),
        (levels[-1], counts[-1], counts[-4:-1]),
    ):
        stays = int(((x[1:] == end) & (x[:-1] == end)).sum())
        least = max(_FEWEST_SAMPLES, _SHARE * len(x), _TIMES * others.max())
        if end != 0 and count >= least and 2 * stays >= count:
            found.append((float(count / len(x)), float(end)))
    return max(found, default=None)
