"""The extension of docs/contributing.md: a package that pip installs, and protonn-edge finds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import CHECKOUT

from protonn_edge.system.extensions import extensions

EXAMPLE = CHECKOUT / "docs" / "adding-an-extension"
NAME = "protonn_edge_margins"
KIND = CHECKOUT / "docs" / "adding-a-kind" / "nearest_mean"

COMMAND = '''"""``protonn-edge margins``: Say what this extension is for."""

from protonn_edge.cli.command import OUTPUT, Output, command


@command("margins")
def margins_command(out: Output = OUTPUT) -> None:
    """Say it."""
    out.finish({"for": "margins"})
'''


def installed(package: Path, site: Path) -> Path:
    """Install a package into a folder, without a network; return the folder."""
    pytest.importorskip("hatchling", reason="to run: pip install hatchling")
    offline = ["--no-index", "--no-build-isolation", "--no-deps", "--no-compile"]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", *offline]
    subprocess.run([*pip, "--target", site, package], check=True)
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the example, installed."""
    return installed(EXAMPLE, tmp_path_factory.mktemp("installed") / "site")


def ran(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with installed packages."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        check=False,
        text=True,
    )


def run(site: Path, folder: Path, *words: str) -> str:
    """Run a command, which succeeds; return what it prints."""
    done = ran(site, folder, "-m", "protonn_edge", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with data and a model."""
    folder = tmp_path_factory.mktemp("data")
    run(site, folder, "demo", "--csv", "-o", ".")
    run(site, folder, "train", "digits.csv", "-o", "model.npz", "--classifier", "linear")
    return folder


def test_its_option_works(site: Path, folder: Path) -> None:
    printed = run(site, folder, "inspect", "model.npz", "--data", "digits.csv", "--close", "2")
    assert "of 359 points of digits.csv have close answers" in printed
    refused = ran(site, folder, "-m", "protonn_edge", "inspect", "model.npz", "--close", "2")
    assert refused.returncode == 2
    assert "--close works only with --data" in refused.stderr


def test_a_library_has_its_paragraph(site: Path, folder: Path) -> None:
    run(site, folder, "export", "model.npz", "--arduino", "library", "--no-try")
    assert "the two largest numbers of `pnn_scores()`" in (folder / "library/README.md").read_text()


def test_it_may_be_imported_before_what_it_extends(site: Path, folder: Path) -> None:
    done = ran(site, folder, "-c", f"from {NAME} import EXTENSION; print(EXTENSION.name)")
    assert done.stdout == "margins\n", done.stderr


def test_its_folders_bring_commands_kinds_and_their_c(folder: Path, tmp_path: Path) -> None:
    package = shutil.copytree(EXAMPLE, tmp_path / "package") / NAME
    (package / "commands").mkdir()
    (package / "commands" / "__init__.py").touch()
    (package / "commands" / "margins.py").write_text(COMMAND)
    kind = shutil.copytree(KIND, package / "kinds" / KIND.name)
    (kind.parent / "__init__.py").touch()
    for module in kind.glob("*.py"):
        text = module.read_text().replace("protonn_edge.kinds.", f"{NAME}.kinds.")
        module.write_text(text)
    site = installed(package.parent, tmp_path / "site")
    assert "margins  Say what this extension is for" in run(site, folder, "--help")
    assert run(site, folder, "margins", "--json") == '{"for": "margins"}\n'
    run(site, folder, "train", "digits.csv", "-o", "mean.npz", "--classifier", "nearest_mean")
    run(site, folder, "verify", "mean.npz", "digits.csv")
    named = (
        "from protonn_edge import NearestMeanClassifier; print(NearestMeanClassifier.__module__)"
    )
    assert ran(site, folder, "-c", named).stdout == f"{NAME}.kinds.nearest_mean.train\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import a_library_that_is_missing", "cannot be loaded (No module named 'a_library"),
        ("", "(module 'protonn_edge_margins' has no attribute 'EXTENSION')"),
        *(
            (
                f"from {type(each).__module__} import EXTENSION",
                f"has the name {each.name!r} of another",
            )
            for each in extensions()[:1]
        ),
    ],
)
def test_one_that_is_broken_is_named(
    site: Path, folder: Path, tmp_path: Path, text: str, sentence: str
) -> None:
    broken = shutil.copytree(site, tmp_path / "site")
    (broken / NAME / "__init__.py").write_text(text)
    refused = ran(broken, folder, "-m", "protonn_edge", "inspect", "model.npz")
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.startswith(f"error: the installed extension {NAME} ")
    assert sentence in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert ran(broken, folder, "-m", "protonn_edge", "--help").returncode == 0
