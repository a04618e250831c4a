"""The extension of docs/contributing.md: a package that pip installs, and protonn-edge finds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import CHECKOUT
from command_line import succeed
from one_process import Answer, answers_of

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
    """Return a folder with the example, installed, to which a command and a kind were added."""
    folder = tmp_path_factory.mktemp("installed")
    package = shutil.copytree(EXAMPLE, folder / "package") / NAME
    (package / "commands").mkdir()
    (package / "commands" / "__init__.py").touch()
    (package / "commands" / "margins.py").write_text(COMMAND)
    kind = shutil.copytree(KIND, package / "kinds" / KIND.name)
    (kind.parent / "__init__.py").touch()
    for module in kind.glob("*.py"):
        text = module.read_text().replace("protonn_edge.kinds.", f"{NAME}.kinds.")
        module.write_text(text)
    return installed(package.parent, folder / "site")


def ran(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with installed packages."""
    path = [str(site), os.environ.get("PYTHONPATH", "")]  # which `make coverage` sets
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
        capture_output=True,
        check=False,
        text=True,
    )


CLOSE = "inspect model.npz --data digits.csv --close 2"
ALONE = "inspect model.npz --close 2"
EXPORT = "export model.npz --arduino library --no-try"
TRAIN = "train digits.csv -o mean.npz --classifier nearest_mean"
ADDED = ("--help", "margins --json", TRAIN, "verify mean.npz digits.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with data and a model."""
    folder = tmp_path_factory.mktemp("data")
    succeed("demo", "--csv", "-o", folder)
    linear = ("--classifier", "linear")
    succeed("train", folder / "digits.csv", "-o", folder / "model.npz", *linear)
    return folder


@pytest.fixture(scope="module")
def answers(site: Path, folder: Path) -> dict[str, Answer]:
    """Return how commands end where the extension is installed."""
    return answers_of((CLOSE, ALONE, EXPORT, *ADDED), site, folder)


def test_its_option_works(answers: dict[str, Answer]) -> None:
    assert "of 359 points of digits.csv have close answers" in answers[CLOSE].stdout
    assert answers[ALONE].returncode == 2
    assert "--close works only with --data" in answers[ALONE].stderr


def test_a_library_has_its_paragraph(answers: dict[str, Answer], folder: Path) -> None:
    assert answers[EXPORT].returncode == 0, answers[EXPORT].stderr
    assert "the two largest numbers of `pnn_scores()`" in (folder / "library/README.md").read_text()


def test_it_may_be_imported_before_what_it_extends(site: Path, folder: Path) -> None:
    done = ran(site, folder, "-c", f"from {NAME} import EXTENSION; print(EXTENSION.name)")
    assert done.stdout == "margins\n", done.stderr


def test_its_folders_bring_commands_kinds_and_their_c(
    answers: dict[str, Answer], site: Path, folder: Path
) -> None:
    assert [line for line in ADDED if answers[line].returncode != 0] == []
    assert "margins  Say what this extension is for" in answers["--help"].stdout
    assert json.loads(answers["margins --json"].stdout) == {"ok": True, "for": "margins"}
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
    broken = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("kinds"))
    (broken / NAME / "__init__.py").write_text(text)
    refused = ran(broken, folder, "-m", "protonn_edge", "verify", "model.npz")
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.startswith(f"error: the installed extension {NAME} ")
    assert sentence in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert ran(broken, folder, "-m", "protonn_edge", "--help").returncode == 0


@pytest.mark.parametrize("text", ["import a_library_that_is_missing", "from nowhere import", "1 +"])
def test_one_whose_kinds_cannot_be_imported_is_named(
    site: Path, folder: Path, tmp_path: Path, text: str
) -> None:
    broken = shutil.copytree(site, tmp_path / "site")
    (kind,) = (each for each in (broken / NAME / "kinds").iterdir() if (each / "head.py").exists())
    (kind / "__init__.py").write_text(text)
    refused = ran(broken, folder, "-m", "protonn_edge", "inspect", "model.npz")
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.startswith(f"error: the installed extension {NAME} cannot be loaded (")
    assert len(refused.stderr.splitlines()) == 1
    assert ran(broken, folder, "-m", "protonn_edge", "--help").returncode == 0
