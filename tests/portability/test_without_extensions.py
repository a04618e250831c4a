"""The core needs no extension: with all of them deleted, it works, and refuses what they did."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from checkout import CHECKOUT
from model_factory import random_model

from protonn_edge.model.file import save_model

PARTS = ("protonn_edge", "templates", "firmware", "platformio.ini")  # what is installed
ROWS = [f"{'xy'[i % 2]},{i % 2 * 30 + i * 7 % 11},{i * 5 % 13}" for i in range(80)]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of all that is installed, without extensions."""
    folder = tmp_path_factory.mktemp("core")
    ignored = shutil.ignore_patterns("extensions", "__pycache__", "generated", "node_modules")
    for name in PARTS:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, and a model file with what an extension keeps."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "data.csv").write_text("\n".join(["label,a,b", *ROWS]) + "\n")
    save_model(random_model(), folder / "plain.npz")
    with np.load(folder / "plain.npz") as arrays:
        np.savez(folder / "observed.npz", **{"observation.expected": np.zeros(9), **arrays})
    return folder


@pytest.fixture(scope="module")
def run(core: Path, work: Path) -> Run:
    """Return what runs a command of the copy."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "protonn_edge", *words]
        environment = {**os.environ, "PYTHONPATH": str(core)}
        return subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False
        )

    return run


def test_a_model_goes_from_data_to_a_report(run: Run, work: Path) -> None:
    for words in (
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
    ):
        done = run(*words.split())
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    assert (work / "report.html").is_file()


def test_the_demo_runs(run: Run) -> None:
    done = run("demo", "-o", "demo")
    assert done.returncode == 0, (done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("studio", "no such command 'studio'"),
        ("inspect observed.npz", "the model needs the extension 'observation'"),
        ("build model.npz --board pico -o pico", "there is no firmware for pico"),
        ("verify project", "no extension that proves builds is installed"),
        ("train data.csv --classifier bonsai -o bonsai.npz", "'bonsai' is not one of"),
        ("hil data.csv --port COM1 --meter ppk2:COM2", "no extension with instruments"),
        ("train data.csv --start-from project -o other.npz", "no extension makes a model of"),
    ],
)
def test_what_extensions_do_is_refused_in_one_sentence(words: str, sentence: str, run: Run) -> None:
    done = run(*words.split())
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
