"""Deskew: shift the rows of an image to remove its slant."""

from __future__ import annotations

STAGES = {"deskew": ""}
