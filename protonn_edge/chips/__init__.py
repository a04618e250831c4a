"""Chips and boards: what they are, their compilers, linked programs and the emulated board."""
