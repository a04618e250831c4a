"""protonn-edge: from labelled data to a classifier measured on an Arduino Uno."""

from __future__ import annotations

__version__ = "0.1.0"
