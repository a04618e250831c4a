"""Layers of quantized networks: sums over windows, with a 32-bit multiplier per channel."""

from __future__ import annotations

STAGES = {"int8_layer": ""}
