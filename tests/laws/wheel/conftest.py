"""The wheel, built once, and an installation of it far from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from checkout import CHECKOUT, skip_unless_checked_out

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sdist, and with the wheel built from it: so the sdist is whole.

    The hatchling that is installed does it; no network is needed.
    """
    skip_unless_checked_out("pyproject.toml")
    folder = tmp_path_factory.mktemp("distributions")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, CHECKOUT]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    """Return the wheel."""
    (built,) = distributions.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def sdist(distributions: Path) -> Path:
    """Return the sdist."""
    (built,) = distributions.glob("*.tar.gz")
    return built


@pytest.fixture(scope="session")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a folder of its own; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("installation")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    apart = ["--no-compile", "--target", folder, wheel]
    subprocess.run([*command, *apart], check=True, timeout=120)
    return folder


@pytest.fixture
def run(installation: Path, tmp_path: Path) -> Run:
    """Return a function that runs Python with the installed package, in an empty folder."""

    def run_python(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            # Comes before the checkout, which is on the path as an editable package.
            env={**os.environ, "PYTHONPATH": str(installation)},
            check=check,
            timeout=300,
            capture_output=True,
            text=True,
        )

    return run_python
