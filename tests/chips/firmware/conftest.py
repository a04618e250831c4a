"""The firmware with a model written by hand, on an emulator built from this checkout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from avr_tools import EMULATED_AVR, skip_without
from fake_firmware import build, copy_firmware, start

__all__ = ["build", "start"]


@pytest.fixture(scope="session", autouse=True)
def toolchain() -> None:
    """Skip where the firmware cannot be compiled or run."""
    skip_without(*EMULATED_AVR, "avr-nm")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Build the emulator of this checkout, apart from the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def firmware_copy(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies the sources to a temporary folder."""
    return lambda **options: copy_firmware(tmp_path, **options)
