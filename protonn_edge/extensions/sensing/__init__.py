"""Sensors: boards that record them or classify their samples, and recordings that they replay.

See `docs/recording.md` and `docs/live.md`.
"""

from __future__ import annotations

from protonn_edge.system.lazy import lazy_names

BRINGS = {
    "channels": "described:channels_of",
    "command emulate": "commands.played:PlayedOptions",
    "command predict": "commands.stream:StreamOptions",
    "sensor firmware": "commands.live:LiveOptions",
}
"""What the rest of the package asks for; see `protonn_edge.system.extensions`."""

__all__, __getattr__, __dir__ = lazy_names(__name__)
