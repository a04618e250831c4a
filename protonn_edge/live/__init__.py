"""Firmware that classifies the samples of its own sensor, and the host's end of its line."""

from __future__ import annotations

from pathlib import Path

LIVE_FOLDER = Path("live")
"""Where 'build --sensor' writes, and 'monitor --emulate' looks, unless another folder is named."""
