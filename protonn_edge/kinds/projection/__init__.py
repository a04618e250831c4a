"""The projection: a matrix product, requantized to coordinates of one byte, for several kinds."""

from __future__ import annotations

STAGES = {"projection": ""}
