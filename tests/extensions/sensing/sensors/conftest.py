"""Programs for the emulated board, and its line, as for the tests of the emulator."""

from __future__ import annotations

from chips.emulator.conftest import compile_firmware, connect

__all__ = ["compile_firmware", "connect"]
