"""Fixtures of sessions with a device that is a thread behind a TCP port."""

from __future__ import annotations

import pytest
from fake_device import MODEL_HASH, FakeDevice, make_device, quick_to_close
from fake_firmware import build, start

__all__ = ["build", "make_device", "quick_to_close", "start"]


@pytest.fixture
def device(make_device) -> FakeDevice:
    """Give a device that does everything right."""
    return make_device()


@pytest.fixture
def model_hash() -> bytes:
    """Give the SHA-256 of the fake device's model."""
    return MODEL_HASH
