"""How long windows of one channel may be, which may be clips of sound."""

from __future__ import annotations

from protonn_edge.errors import InputError
from protonn_edge.features.audio.frames import SAMPLE_LIMIT


def check_cut(window: int, channels: int) -> None:
    """Refuse windows of one channel that are too long for a device."""
    if channels == 1 and window > SAMPLE_LIMIT:
        raise InputError(
            f"--window is {window:,}, but a device supports windows of at most {SAMPLE_LIMIT:,} "
            "samples; give a smaller --window"
        )
