"""The core needs no extension: with all of them deleted, it works, and refuses what they did."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checkout import CHECKOUT
from model_factory import random_model
from one_process import Answer, answers_of

from protonn_edge.model.file import save_model

PARTS = ("protonn_edge", "templates", "firmware", "platformio.ini")  # what is installed
ROWS = [f"{'xy'[i % 2]},{i % 2 * 30 + i * 7 % 11},{i * 5 % 13}" for i in range(80)]
WAY = (  # from data to a report, and what helps on it
    "--help",
    "train data.csv -o model.npz",
    "build model.npz -o project",
    "verify model.npz data.csv",
    "hil data.csv --project project --emulate -o project/results.csv",
    "report project/results.csv --data data.csv",
    "export model.npz --arduino library",
    "inspect model.npz",
    "predict model.npz data.csv",
    "data data.csv",
    "demo -o demo",
)
REFUSED = {
    "studio": "no such command 'studio'",
    "inspect extended.npz": "the model needs the extension 'unheard_of'",
    "build model.npz --board pico -o pico": "there is no firmware for pico",
    "verify project": "no extension that proves builds is installed",
    "train data.csv --classifier bonsai -o bonsai.npz": "'bonsai' is not one of",
    "hil data.csv --port COM1 --meter ppk2:COM2": "no extension with instruments",
    "train data.csv --start-from project -o other.npz": "no extension makes a model of",
}


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of all that is installed, without extensions; what is compiled stays so."""
    folder = tmp_path_factory.mktemp("core")
    ignored = shutil.ignore_patterns("extensions", "generated", "node_modules")
    for name in PARTS:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, and a model file with an array of an extension."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "data.csv").write_text("\n".join(["label,a,b", *ROWS]) + "\n")
    save_model(random_model(), folder / "plain.npz")
    with np.load(folder / "plain.npz") as arrays:
        np.savez(folder / "extended.npz", **{"unheard_of.array": np.zeros(9), **arrays})
    return folder


@pytest.fixture(scope="module")
def answers(core: Path, work: Path) -> dict[str, Answer]:
    """Return how each command of the copy ended."""
    return answers_of([*WAY, *REFUSED], core, work)


@pytest.mark.parametrize("words", WAY)
def test_what_the_core_does_needs_no_extension(words: str, answers: dict[str, Answer]) -> None:
    done = answers[words]
    assert done.returncode == 0, (done.stdout, done.stderr)


def test_the_way_ends_in_a_report(answers: dict[str, Answer], work: Path) -> None:
    assert answers
    assert (work / "report.html").is_file()


@pytest.mark.parametrize("words", REFUSED)
def test_what_extensions_do_is_refused_in_one_sentence(
    words: str, answers: dict[str, Answer]
) -> None:
    done = answers[words]
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert REFUSED[words] in done.stderr
    assert "Traceback" not in done.stderr


def test_it_is_a_program_with_its_own_commands(core: Path, work: Path) -> None:
    command = [sys.executable, "-m", "protonn_edge", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(core)}
    done = subprocess.run(
        command, cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout
    assert "studio" not in done.stdout
