"""Sums of gradients by direction over overlapping cells of an image."""

from __future__ import annotations

STAGES = {"gradients": ""}
