"""The C of convolutions: as it was read."""

from __future__ import annotations

import runpy
from pathlib import Path

GOLDEN = runpy.run_path(str(Path(__file__).parent / "renew_golden.py"))


def test_the_small_model_renders_to_the_golden_file() -> None:
    """Renew it with ``python tests/convolution/renew_golden.py`` and read the difference."""
    for name, text in GOLDEN["rendered"]().items():
        assert text == (GOLDEN["GOLDEN"] / name).read_text()
