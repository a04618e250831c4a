"""How recordings of one channel are cut into clips of sound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.features.audio.clips import Clips
from protonn_edge.features.audio.frames import SAMPLE_LIMIT


def check_cut(window: int, channels: int) -> None:
    """Refuse windows of one channel that are too long for a device."""
    if channels == 1 and window > SAMPLE_LIMIT:
        raise InputError(
            f"--window is {window:,}, but a device supports windows of at most {SAMPLE_LIMIT:,} "
            "samples; give a smaller --window"
        )


def at_onsets(samples: NDArray[np.float32], window: int, onset: int) -> Clips:
    """Return the clips of raw samples (n, 1), which begin where a sound reaches a level."""
    return Clips.of(samples, window, onset)
