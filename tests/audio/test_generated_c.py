"""The C of sound, as it was read."""

from __future__ import annotations

import runpy
from pathlib import Path

HERE = Path(__file__).parent


def test_the_small_model_renders_to_the_golden_file() -> None:
    """Renew the files with ``python tests/audio/renew_golden.py`` and read the difference."""
    for name, text in runpy.run_path(str(HERE / "renew_golden.py"))["rendered"]().items():
        assert text == (HERE / "golden" / name).read_text()
