"""protonn-edge: from labelled data to a classifier measured on an Arduino Uno."""

from __future__ import annotations

from protonn_edge.model.registry import EXPORTS
from protonn_edge.system.lazy import lazy_names

__version__ = "0.1.0"
__all__, __getattr__, __dir__ = lazy_names(__name__, EXPORTS)
