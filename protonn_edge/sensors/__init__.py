"""Sensors: the known ones, and recordings that the emulated board plays."""

from __future__ import annotations

from protonn_edge.system.lazy import lazy_names

BRINGS = {"channels": "described:channels_of"}
"""What the rest of the package asks for; see `protonn_edge.extensions`."""

__all__, __getattr__, __dir__ = lazy_names(__name__)
