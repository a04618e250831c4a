"""Ctrl-C ends with 130: a training keeps what it has, and a second one ends it at once."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from programs import interruptible, started

from protonn_edge.cli import COMMANDS, inspect
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.progress import TrainingStopped
from protonn_edge.model.file import load_model
from protonn_edge.policy.rejection import steps
from protonn_edge.policy.rejection.rule import Rejection

# In a process of its own, where commands run in the main thread, which signals go to. The signals
# are sent after a line of the output, not after a time.
PROGRAM = """
import json
import signal
from click.testing import CliRunner
from protonn_edge.cli import main
from protonn_edge.cli.command import Output

def stopped(*words, after=None, times=1):
    say = Output.say
    def heard(self, *parts):
        say(self, *parts)
        if after is not None and str(parts[0]).startswith(after):
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
    Output.say = heard
    done = CliRunner().invoke(main, ["train", *words, "--verbose", "--json"])
    Output.say = say
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))

few = ("--epochs", "9")
stopped("train.csv", "-o", "kept.npz", *few, after="epoch 3 ")
stopped("train.csv", "-o", "twice.npz", *few, after="epoch 3 ", times=2)
stopped("train.csv", "-o", "late.npz", *few, after="epoch 9 ")
stopped("train.csv", "-o", "whole.npz", *few)
layers = ("--image-shape", "4x4", "--features", "conv:2x3", "--network-epochs", "5")
for kind in ("linear", "protonn", "forest"):
    of_kind = (*layers, "--classifier", kind)
    stopped("images.csv", "-o", f"{kind}.npz", *of_kind, after="learning the layers, pass 2 ")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped")
    rows = [f"{label},{label * 3 + i % 5},{i % 7}" for i in range(30) for label in (0, 1)]
    (folder / "train.csv").write_text("\n".join(["label,a,b", *rows]) + "\n")
    pixels = ",".join(f"p{i}" for i in range(16))
    images = [
        ",".join(str(pixel * 7 % 5 + 9 * (pixel % 4 == label) + i % 3) for pixel in range(16))
        for i in range(30)
        for label in (0, 1)
    ]
    rows = [f"{i % 2},{image}" for i, image in enumerate(images)]
    (folder / "images.csv").write_text("\n".join([f"label,{pixels}", *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> list[tuple[int, str, str]]:
    """Return exit codes and texts of the program's trainings."""
    done = subprocess.run(
        interruptible(sys.executable, "-c", PROGRAM),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_training_that_is_stopped_writes_its_best_epoch(folder: Path, answers: Any) -> None:
    code, said, complained = answers[0]
    sentence = "stopped after 3 of 9 epochs; the best model so far is kept in kept.npz"
    assert (code, complained.splitlines()[-1]) == (130, f"error: {sentence}")
    assert json.loads(said)["error"] == sentence
    assert json.loads(said)["train_accuracy"] > 0.5
    assert load_model(folder / "kept.npz").record["stopped"] == "3 of 9 epochs"
    assert "stopped after 3 of 9 epochs" in run("inspect", folder / "kept.npz").stdout


def test_a_second_ctrl_c_ends_it_at_once(folder: Path, answers: Any) -> None:
    code, said, complained = answers[1]
    assert (code, complained.splitlines()[-1]) == (130, "error: stopped by Ctrl-C")
    assert json.loads(said) == {"ok": False, "error": "stopped by Ctrl-C"}
    assert not (folder / "twice.npz").exists()


def test_ctrl_c_in_the_last_epoch_keeps_them_all(folder: Path, answers: Any) -> None:
    code, _, complained = answers[2]
    assert (code, complained.splitlines()[-1]) == (
        130,
        "error: stopped after all epochs; the best model so far is kept in late.npz",
    )
    late, whole = (load_model(folder / name) for name in ("late.npz", "whole.npz"))
    assert np.array_equal(late.head.projection, whole.head.projection)


@pytest.mark.parametrize(
    ("number", "kind", "rest"),
    [(4, "linear", ""), (5, "protonn", " and 1 of 200 epochs"), (6, "forest", "")],
)
def test_behind_stopped_layers_little_is_trained(
    folder: Path, answers: Any, number: int, kind: str, rest: str
) -> None:
    code, _, complained = answers[number]
    place = "2 of 5 passes over the layers"
    assert f"\nstopped after {place}; the remaining steps are shortened" in complained
    sentence = f"error: stopped after {place}{rest}; the best model so far is kept in {kind}.npz"
    assert (code, complained.splitlines()[-1]) == (130, sentence)
    assert load_model(folder / f"{kind}.npz").record["stopped"] == f"{place}{rest}"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT: run it elsewhere")
def test_the_first_ctrl_c_says_that_the_training_stops(folder: Path) -> None:
    words = ("train", "train.csv", "-o", "said.npz", "--verbose", "--epochs", "100000")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = interruptible(sys.executable, "-m", "protonn_edge", *words)
    with started(*command, cwd=folder, **pipes) as process:
        next(line for line in process.stdout if line.startswith("epoch 3 "))
        process.send_signal(signal.SIGINT)
        _, complained = process.communicate()
    assert process.returncode == 130
    lines = [line for line in complained.splitlines() if line]
    assert lines[0] == "stopping after this epoch or fit; another Ctrl-C ends the command at once"
    assert re.fullmatch(r"error: stopped after [\d,]+ of 100,000 epochs; the best .*", lines[-1])


def test_a_trained_model_is_kept_where_its_thresholds_are_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "calibrate_rejection", interrupted)
    options = ("--epochs", "3", "--rejection", "5%", "--json")
    done = run("train", folder / "train.csv", "-o", folder / "trained.npz", *options)
    assert done.exit_code == 130
    assert "stopped after all epochs, before --rejection; the best" in done.stderr
    model = load_model(folder / "trained.npz")
    assert model.policy.find(Rejection) is None
    assert model.record["stopped"] == "all epochs, before --rejection"


def test_what_is_not_stopped_is_trained_to_the_end(folder: Path, answers: Any) -> None:
    assert answers[3][0] == 0
    assert "stopped" not in load_model(folder / "whole.npz").record


# Each command as if it were in a call of a library that does not return, in a process of its own.
IN_A_LIBRARY = """
import ctypes
import json
import os
import signal
import sys
import threading
import click
from protonn_edge.cli import COMMANDS, main

def in_a_library():
    library, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    for _ in range(2):
        library.pthread_mutex_lock(lock)

def begun(name):
    command = main.resolve_command(click.Context(main), [name])[1]
    if process := os.fork():
        return process
    command.params, command.callback = [], in_a_library
    with open(f"{name}.txt", "w") as sys.stderr:
        main([name])

processes = {name: begun(name) for name in COMMANDS if name != "tune"}
codes = {name: os.waitpid(process, 0)[1] for name, process in processes.items()}
print(json.dumps({name: os.waitstatus_to_exitcode(code) for name, code in codes.items()}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="locks as Linux does: run it there")
def test_ctrl_c_ends_every_command_within_a_call_of_a_library(tmp_path: Path) -> None:
    done = subprocess.run(
        interruptible(sys.executable, "-c", IN_A_LIBRARY),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    codes = json.loads(done.stdout)
    assert {*codes} == {*COMMANDS} - {"tune"}  # which writes the best model so far
    assert {name: code for name, code in codes.items() if code != 130} == {}
    assert {path.read_text() for path in tmp_path.iterdir()} == {"error: stopped by Ctrl-C\n"}


def test_ctrl_c_ends_any_command_with_130(
    folder: Path, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inspect, "load_model", interrupted)
    done = run("inspect", folder / "any.npz", "--json")
    assert (done.exit_code, done.stderr) == (130, "error: stopped by Ctrl-C\n")
    assert json.loads(done.stdout) == {"ok": False, "error": "stopped by Ctrl-C"}


# A module that is imported while the program starts, which Ctrl-C interrupts.
STOPPED_IN = """
import signal
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder

class Stopping(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError("a library makes another error of it")
        return None

sys.meta_path.insert(0, Stopping())
sys.argv = ["protonn-edge", *{words!r}]
from protonn_edge.__main__ import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no env: run it elsewhere")
@pytest.mark.parametrize("module", ["click", "protonn_edge.cli", "numpy", "protonn_edge.cli.train"])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_ctrl_c_while_a_command_is_imported_is_one_line(module: str, more: list[str]) -> None:
    program = STOPPED_IN.format(module=module, words=["train", "train.csv", *more])
    done = subprocess.run(
        interruptible(sys.executable, "-c", program), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "error: stopped by Ctrl-C\n")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert said == [{"ok": False, "error": "stopped by Ctrl-C"}] * len(more)


def test_names_of_the_package_are_found_without_an_import_before() -> None:
    program = "import sys, protonn_edge; assert 'protonn_edge.model' not in sys.modules\n"
    program += "assert 'build' in dir(protonn_edge) and 'ProtoNNClassifier' in dir(protonn_edge)\n"
    program += "from protonn_edge import *; assert ProtoNNClassifier.__name__"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_nothing_is_written_where_nothing_was_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise TrainingStopped

    monkeypatch.setattr(Learner, "fit_accepted", interrupted)
    done = run("train", folder / "train.csv", "-o", folder / "nothing.npz")
    sentence = "error: stopped before an epoch was finished; nothing is written\n"
    assert (done.exit_code, done.stderr.splitlines(keepends=True)[-1]) == (130, sentence)
    assert not (folder / "nothing.npz").exists()
