"""The page of `data --html` had every pixel of large images, 10 MB and more of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import succeed


def test_the_size_of_a_page_of_large_images_is_bounded(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    images = np.random.default_rng(0).random((4, 1_200, 400), np.float32)
    data, page = tmp_path / "d.npz", tmp_path / "page.html"
    np.savez(data, X_train=images, y_train=np.arange(4) % 2)
    succeed("data", data, "--html", page)
    text = page.read_text(encoding="utf-8")
    assert text.count("<img") == 4
    assert len(text) < 300_000
