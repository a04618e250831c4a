"""PlatformIO as it is."""

from __future__ import annotations

import pytest

from protonn_edge.chips.toolchain import platformio
from protonn_edge.chips.toolchain.process import run_within


@pytest.fixture(autouse=True)
def _platformio_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is replayed here: these are the tests of PlatformIO's own builds."""
    monkeypatch.setattr(platformio, "run_within", run_within)
