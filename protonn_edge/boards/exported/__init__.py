"""Boards with 32 bits, for which models are exported; for some, there is firmware, too."""
