"""The tools to build for an AVR and to emulate it, without which tests are skipped.

A test asks for them with a mark, a fixture by calling `skip_without`. Both name what is missing and
say how to get it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from protonn_edge.chips.emulator import programs

AVR_GCC = ("avr-gcc",)
EMULATED_AVR = ("gcc", "avr-gcc", "/usr/include/simavr/sim_avr.h")
UPLOADS = (*EMULATED_AVR, "avrdude", str(programs._OPTIBOOT))


def missing(*tools: str) -> list[str]:
    """Return which of these programs are not on PATH, and which of these files are not there."""
    return [tool for tool in tools if not _is_there(tool)]


def needs(*tools: str) -> pytest.MarkDecorator:
    """Return the mark of tests that are skipped without these tools."""
    return pytest.mark.skipif(bool(missing(*tools)), reason=_reason(*tools))


def skip_without(*tools: str) -> None:
    """Skip the tests of a fixture, or the rest of one, without these tools."""
    if missing(*tools):
        pytest.skip(_reason(*tools))


def _is_there(tool: str) -> bool:
    return Path(tool).is_file() if tool.startswith("/") else shutil.which(tool) is not None


def _reason(*tools: str) -> str:
    return f"{', '.join(missing(*tools))} missing; to run: make setup"


needs_avr_gcc = needs(*AVR_GCC)
needs_emulated_avr = needs(*EMULATED_AVR)
needs_uploads = needs(*UPLOADS)
