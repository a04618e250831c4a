"""Layers of quantized networks: sums over windows, with a 32-bit multiplier per channel."""
