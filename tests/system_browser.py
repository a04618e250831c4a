"""The system's Chromium, and what looks for barriers in its pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from npm_packages import npm_packages
from playwright.sync_api import Browser, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def system_browser() -> Iterator[Browser]:
    """Run the system's Chromium, without a window; skip where there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on PATH; to run: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def axe_source() -> str:
    """Return axe-core's source: fetched by npm once, kept in the user's cache."""
    folder = npm_packages("axe-core", Path(__file__).parent / "report" / "web")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def assert_no_barriers(found: list[dict[str, Any]]) -> None:
    """Check that none of the violations that axe found is serious."""
    serious = [
        (each["id"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []
