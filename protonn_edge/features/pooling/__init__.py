"""Pooling: the largest or the average value of each channel in windows of an image."""

from __future__ import annotations

STAGES = {"pooling": ""}
