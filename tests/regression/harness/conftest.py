"""Devices to harass the harness with, and the firmware to be harassed."""

from __future__ import annotations

from fake_device import make_device, quick_to_close
from fake_firmware import build, start

__all__ = ["build", "make_device", "quick_to_close", "start"]
