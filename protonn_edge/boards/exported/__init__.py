"""Boards with 32 bits, for which models are exported; there is no firmware for them."""
