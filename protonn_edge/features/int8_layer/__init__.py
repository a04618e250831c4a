"""Layers of quantized networks: sums over windows, with a multiplier of 32 bits per channel."""
