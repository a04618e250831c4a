"""The onset of a clip of sound: the first sample at which the level exceeds a threshold.

In 16-bit integers, the level follows the differences of samples that band passes use, too::

    level += |b[t] - b[t-2]| - (level >> 5)

It begins at 0, is at most ``32 * 255 + 31``, and is 32 times a mean of about the last 32
differences. A clip begins with the sample that raises it above 32 times the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.limits import ONSETS
from protonn_edge.model.signals import QUIET
from protonn_edge.system.errors import InputError

LEVEL_SHIFT = 5


def check_onset(onset: int) -> None:
    """Refuse thresholds that are too low or too high."""
    low, high = ONSETS
    if not low <= onset <= high:
        raise InputError(f"the onset threshold is {onset}; give {low} to {high}")


def onset_of(b: NDArray[np.uint8], onset: int) -> int | None:
    """Return the index of the sample in bytes (n,) at which a clip begins; None if none does."""
    if not len(b):
        return None
    limit, level = onset << LEVEL_SHIFT, 0
    before = older = int(b[0])
    for place, sample in enumerate(np.ascontiguousarray(b).data):
        level += abs(sample - older) - (level >> LEVEL_SHIFT)
        if level > limit:
            return place
        older, before = before, sample
    return None


def onsets_of(b: NDArray[np.uint8], samples: int, onset: int) -> Iterator[int]:
    """Yield where a device detects the beginnings of clips of `samples` bytes in bytes (n,).

    A clip begins only after at least `QUIET` samples without sound since the last one, so the rest
    of a long sound does not begin another clip. A clip that would end after the last sample does
    not count.
    """
    at, quiet = 0, 0
    while (onset_at := onset_of(b[at:], onset)) is not None and at + onset_at + samples <= len(b):
        if onset_at >= quiet:
            yield at + onset_at
            at, quiet = at + onset_at + samples, QUIET
        else:
            at += onset_at + 1


def clip_of(b: NDArray[np.uint8], samples: int, onset: int) -> NDArray[np.uint8] | None:
    """Return the clip of `samples` bytes that begins at the onset in bytes (n,), None without one.

    The last sample is repeated if the recording ends before the clip.
    """
    start = onset_of(b, onset)
    if start is None:
        return None
    clip = b[start : start + samples]
    return np.pad(clip, (0, samples - len(clip)), mode="edge")
