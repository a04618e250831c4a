"""Packages that tests need of npm: fetched once, kept in the user's cache."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from protonn_edge.chips.toolchain.javascript import INSTALL
from protonn_edge.system.folders import built_once

_FILES = ("package.json", "package-lock.json")


def npm_packages(name: str, listed_in: Path) -> Path:
    """Return a folder with a package in its node_modules/; skip where there can be none."""
    missing = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not on PATH; to run: install Node.js 20 or newer")
    contents = [(listed_in / file).read_bytes() for file in _FILES]

    def install(folder: Path) -> None:
        folder.mkdir()
        for file, content in zip(_FILES, contents, strict=True):
            (folder / file).write_bytes(content)
        done = subprocess.run(
            INSTALL, cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
            pytest.skip(f"npm cannot fetch {name} ({reason}); to run: connect to npm's registry")

    return built_once(name, contents, install)
