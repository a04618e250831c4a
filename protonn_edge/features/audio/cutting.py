"""How recordings of one channel are cut into clips of sound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.audio.clips import Clips
from protonn_edge.features.audio.frames import SAMPLE_LIMIT
from protonn_edge.system.checks import check_most


def check_cut(window: int, channels: int) -> None:
    """Refuse windows of one channel that are too long for a device."""
    if channels == 1:
        check_most("--window", window, SAMPLE_LIMIT, "samples", "give a smaller --window")


def at_onsets(samples: NDArray[np.float32], window: int, onset: int) -> Clips:
    """Return the clips of raw samples (n, 1), which begin where a sound reaches a level."""
    return Clips.of(samples, window, onset)
