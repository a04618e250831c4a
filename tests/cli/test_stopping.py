"""Ctrl-C ends with 130: a training keeps what it has, and a second one ends it at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from protonn_edge.cli import inspect, train
from protonn_edge.model import load_model
from protonn_edge.training import DeviceClassifier
from protonn_edge.training.progress import TrainingStopped

# In a process of its own, where commands run in the main thread, which signals go to.
PROGRAM = """
import json, signal
from click.testing import CliRunner
from protonn_edge.cli import fitting, main
from protonn_edge.model import save_model

def stopped(*words, after=None, times=1):
    note, reports = fitting._note, []
    def counted(report):
        reports.append(report)
        if len(reports) == after:
            for _ in range(times):
                try:
                    signal.raise_signal(signal.SIGINT)
                except KeyboardInterrupt as error:
                    found = error
            raise found
        return note(report)
    fitting._note = counted
    done = CliRunner().invoke(main, ["train", "train.csv", "--verbose", "--epochs", "9", *words])
    fitting._note = note
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))

stopped("-o", "kept.npz", "--json", after=3)
stopped("-o", "twice.npz", after=3, times=2)
stopped("-o", "whole.npz")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped")
    rows = [f"{label},{label * 3 + i % 5},{i % 7}" for i in range(30) for label in (0, 1)]
    (folder / "train.csv").write_text("\n".join(["label,a,b", *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> list[tuple[int, str, str]]:
    """Return exit codes and texts of a training that is stopped, stopped twice, and not stopped."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_training_that_is_stopped_writes_its_best_epoch(folder: Path, answers: Any) -> None:
    code, said, complained = answers[0]
    sentence = "stopped after 3 of 9 epochs; the best so far is kept in kept.npz"
    assert (code, complained.splitlines()[-1]) == (130, f"error: {sentence}")
    assert json.loads(said)["error"] == sentence
    assert json.loads(said)["train_accuracy"] > 0.5
    assert load_model(folder / "kept.npz").record["stopped"] == "3 of 9 epochs"
    assert "stopped after 3 of 9 epochs" in run("inspect", folder / "kept.npz").stdout


def test_a_second_ctrl_c_ends_it_at_once(folder: Path, answers: Any) -> None:
    code, _, complained = answers[1]
    assert (code, complained) == (130, "error: stopped by Ctrl-C\n")
    assert not (folder / "twice.npz").exists()


def test_a_trained_model_is_kept_where_its_thresholds_are_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "_calibrate", interrupted)
    options = ("--epochs", "3", "--rejection", "5%", "--json")
    done = run("train", folder / "train.csv", "-o", folder / "trained.npz", *options)
    assert done.exit_code == 130
    assert "stopped after all epochs, before --rejection; the best" in done.stderr
    model = load_model(folder / "trained.npz")
    assert model.rejection is None
    assert model.record["stopped"] == "all epochs, before --rejection"


def test_what_is_not_stopped_is_trained_to_the_end(folder: Path, answers: Any) -> None:
    assert answers[2][0] == 0
    assert "stopped" not in load_model(folder / "whole.npz").record


def test_ctrl_c_ends_any_command_with_130(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inspect, "load_model", interrupted)
    done = run("inspect", folder / "train.csv", "--json")
    assert (done.exit_code, done.stderr) == (130, "error: stopped by Ctrl-C\n")
    assert json.loads(done.stdout) == {"error": "stopped by Ctrl-C"}


def test_ctrl_c_before_a_command_has_begun_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("protonn_edge.cli._imported", interrupted)
    done = run("inspect", "model.npz")
    assert (done.exit_code, done.stderr) == (130, "error: stopped by Ctrl-C\n")


def test_nothing_is_written_where_nothing_was_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise TrainingStopped

    monkeypatch.setattr(DeviceClassifier, "fit", interrupted)
    done = run("train", folder / "train.csv", "-o", folder / "nothing.npz")
    sentence = "error: stopped before an epoch was finished; nothing is written\n"
    assert (done.exit_code, done.stderr.splitlines(keepends=True)[-1]) == (130, sentence)
    assert not (folder / "nothing.npz").exists()
