"""Layers of quantized networks: sums over windows, with a 32-bit multiplier per channel."""

from __future__ import annotations

STAGES = {"int8_layer": ""}
TITLES = {"int8_layer": "int8 layers"}
SMALLER = {
    "int8_layer": (
        "fewer channels in the layers",
        "a stride of 2 or averages in the first layer",
    )
}
