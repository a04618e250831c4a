"""Where a clip of sound begins: at the first sample after which the level is above a threshold.

The level follows the differences of samples, as band passes take them, in integers of 16 bits::

    level += |b[t] - b[t-2]| - (level >> 5)

It begins at 0, rises to at most ``32 * 255 + 31``, and is 32 times a mean of about the last 32
differences. A clip begins with the sample that lifts it above 32 times the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError

LEVEL_SHIFT = 5
QUIET = 256
"""Samples without sound between two clips of a device that listens on."""

THRESHOLDS = (1, 254)
"""What the mean difference, in steps of a byte, may have to exceed."""


def check_onset(onset: int) -> None:
    """Refuse thresholds that every sound, or none, exceeds.

    Raises
    ------
    InputError
    """
    low, high = THRESHOLDS
    if not low <= onset <= high:
        raise InputError(f"the threshold where sound begins is {onset}; give {low} to {high}")


def onset_of(b: NDArray[np.uint8], onset: int) -> int | None:
    """Return the place of the sample, of bytes (n,), at which a clip begins; None if none does."""
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
    """Yield where clips of so many samples begin, of bytes (n,), as a device hears them.

    After a clip it listens anew, and the next one begins where `QUIET` samples or more without
    sound have passed: what is left of a sound that is longer than a clip begins none. A clip that
    would end behind the last sample is none.
    """
    at, quiet = 0, 0
    while (found := onset_of(b[at:], onset)) is not None and at + found + samples <= len(b):
        if found >= quiet:
            yield at + found
            at, quiet = at + found + samples, QUIET
        else:
            at += found + 1


def clip_of(b: NDArray[np.uint8], samples: int, onset: int) -> NDArray[np.uint8] | None:
    """Return the clip of so many samples, of bytes (n,), where sound begins; None if it does not.

    The last sample is repeated where the recording ends before the clip.
    """
    start = onset_of(b, onset)
    if start is None:
        return None
    found = b[start : start + samples]
    clip: NDArray[np.uint8] = np.pad(found, (0, samples - len(found)), mode="edge")
    return clip
