"""The program that measures a module on a board, on MicroPython's unix port behind a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import programs
import pytest
from command_line import refusal, run, run_json, succeed
from extensions.micropython.interpreters import HOW, program
from model_factory import plain_model

from protonn_edge.extensions.micropython.module import PythonModule
from protonn_edge.model.device_model import with_integers
from protonn_edge.model.file import save_model

# Each prediction takes 50 us of this clock, however busy the computer is, and each look 1 us.
_CLOCK = """
now = [0]


def ticks(us=1):
    now[0] += us
    return now[0]


predict_once = model.classify_raw
model.classify_raw = lambda inputs: (ticks(49), predict_once(inputs))[1]
"""


@contextmanager
def started(folder: Path, script: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a script with a terminal as its line; yield the other end's name."""
    board, line = pty.openpty(), pty.openpty()
    for each in (board[1], line[1]):
        tty.setraw(each)
    command = (program("micropython"), script)
    with programs.started(*command, cwd=folder, stdin=board[1], stdout=board[1]) as process:

        def carry() -> None:
            while process.poll() is None:
                for each in select.select([board[0], line[0]], [], [], 0.1)[0]:
                    os.write(line[0] if each == board[0] else board[0], os.read(each, 4096))

        thread = threading.Thread(target=carry, daemon=True)
        thread.start()
        try:
            yield os.ttyname(line[1]), process
        finally:
            process.kill()
            thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a model, its module, the program, and points."""
    if program("micropython") is None:
        pytest.skip(HOW)
    model = plain_model()
    save_model(model, tmp_path / "model.npz")
    done = run_json("export", tmp_path / "model.npz", "--micropython", tmp_path / "m", "--measure")
    assert done["measure"] == str(tmp_path / "m_measure.py")
    X = np.random.default_rng(3).uniform(-1, 1, (9, model.n_features))
    rows = [",".join([model.classes[n % 3], *map(str, x)]) for n, x in enumerate(X)]
    names = ",".join(["label", *(f"x{n}" for n in range(model.n_features))])
    (tmp_path / "test.csv").write_text("\n".join([names, *rows, ""]))
    return tmp_path


def test_hil_measures_a_module_without_a_project(folder: Path) -> None:
    script = folder / "m_measure.py"
    script.write_text(script.read_text().replace("\nticks = ", f"\n{_CLOCK}\nunused = "))
    with started(folder, "m_measure.py") as (port, _):
        words = ("hil", folder / "test.csv", "--model", folder / "model.npz", "--port", port)
        done = run_json(*words, "--repeat", 20)
        shown = succeed(*words).stdout
    assert (done["n"], done["mismatches"], done["lost"]) == (9, 0, 0)
    assert done["measured_by"]["counter"] == "timer"
    assert done["stack_peak_bytes"] is None
    assert (done["energy_mj"], round(done["latency_ms"]["mean"], 2)) == (None, 0.05)
    assert "measured by: a timer, in steps of " in shown
    assert "stack" not in shown


def test_it_ends_by_itself_so_that_the_prompt_is_back(folder: Path) -> None:
    text = (folder / "m_measure.py").read_text()
    (folder / "m_measure.py").write_text(text.replace("since < 60", "since < 1"))
    with started(folder, "m_measure.py") as (_, process):
        assert process.wait(20) == 0


def test_raw_inputs_have_the_scores_of_numpy_and_the_module_its_hash() -> None:
    module = PythonModule("m", with_integers(plain_model()))
    names: dict[str, object] = {}
    exec(module.text, names)
    chain, Q = module.model.chain, np.arange(24, dtype=np.uint8).reshape(3, 8)
    found = [names["classify_raw"](bytes(q)) for q in Q]  # type: ignore[operator]
    assert names["HASH"] == bytes.fromhex(chain.model_sha256)[:8]
    assert [answer for answer, _ in found] == chain.predict(Q).tolist()
    with pytest.raises(ValueError, match="."):
        names["classify_raw"](b"")  # type: ignore[operator]


def test_it_needs_a_module(tmp_path: Path) -> None:
    save_model(plain_model(), tmp_path / "model.npz")
    words = ("export", tmp_path / "model.npz", "--c", tmp_path / "c", "--measure")
    assert "--measure works only with --micropython" in refusal(run(*words), 2)
