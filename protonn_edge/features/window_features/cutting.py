"""How recordings of several channels are cut into windows."""

from __future__ import annotations

from protonn_edge.features.window_features.windows import CHANNEL_LIMIT, check_window
from protonn_edge.system.checks import check_most


def check_cut(window: int, channels: int) -> None:
    """Refuse windows of several channels that no features can be computed from."""
    check_most(
        "the recording",
        channels,
        CHANNEL_LIMIT,
        "channels",
        "choose some with --channels NAMES or, if each row is a whole window, give the "
        "file to 'train --window'",
    )
    if channels > 1:
        check_window(window, channels)
