"""How long windows of one channel may be, which may be clips of sound."""

from __future__ import annotations

from protonn_edge.extensions.sound.features.audio.frames import SAMPLE_LIMIT
from protonn_edge.system.checks import check_most


def check_cut(window: int, channels: int) -> None:
    """Refuse windows of one channel that are too long for a device."""
    if channels == 1:
        check_most("--window", window, SAMPLE_LIMIT, "samples", "give a smaller --window")
