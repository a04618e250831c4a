"""Firmware that classifies what its own sensor senses, and what listens to it."""

from __future__ import annotations

from pathlib import Path

LIVE_FOLDER = Path("live")
"""Where 'build --sensor' writes, and 'monitor --emulate' looks, unless another folder is named."""
