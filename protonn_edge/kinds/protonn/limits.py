"""What the numbers of a ProtoNN model may be."""

from __future__ import annotations

GAMMAS = (1e-15, 1e15)
"""The range of a model's gamma."""

PROJECTION_BITS = (8, 4)
"""Possible bits of an integer weight of the projection."""
