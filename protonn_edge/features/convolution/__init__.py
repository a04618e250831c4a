"""Convolution: weighted sums over windows of an image of channels, which become bytes again."""

from __future__ import annotations

STAGES = {"convolution": ""}
