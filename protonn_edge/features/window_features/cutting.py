"""How recordings of several channels are cut into windows."""

from __future__ import annotations

from protonn_edge.errors import InputError
from protonn_edge.features.window_features.windows import CHANNEL_LIMIT, check_window


def check_cut(window: int, channels: int) -> None:
    """Refuse windows of several channels that no features can be computed from."""
    if channels > CHANNEL_LIMIT:
        raise InputError(
            f"the recording has {channels} channels, but the limit is {CHANNEL_LIMIT}; choose some "
            "with --read channels=NAMES or, if each row is a whole window, give the file to "
            "'train --window'"
        )
    if channels > 1:
        check_window(window, channels)
