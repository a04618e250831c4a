"""Taught examples on chips of 32 bits: the votes are NumPy's, and the bytes outlast a reset."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from chains import replace
from extensions.sensing.export.test_sketches_for_any_chip import compiled
from extensions.teaching.histories import STEPS, History
from extensions.teaching.serving import on_host
from extensions.teaching.test_serving import SMALL, each_model
from generated_programs import write_c
from model_factory import random_inputs, random_model

from protonn_edge.chips.cores import WORD_CORES
from protonn_edge.codegen.export import export
from protonn_edge.codegen.words import WordPlan, plan_for
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import IntegerChain, coordinates


def plan_of(model: IntegerChain) -> WordPlan:
    return plan_for(model, WORD_CORES["cortex-m0plus"])


@each_model
def test_histories_agree(model: IntegerChain, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    with on_host(model, tmp_path, plan_of(model)) as program:
        history = History(model, (program,), random_inputs(3, 60, model))
        for _ in range(3):
            history.run(rng, STEPS)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the generated C as a shared library."""
    folder = tmp_path_factory.mktemp("words")
    write_c(SMALL, folder, plan_of(SMALL))
    command = ["cc", "-shared", "-fPIC", folder / "pnn_model.c", "-o", folder / "model.so"]
    subprocess.run(command, check=True, timeout=60)
    return folder / "model.so"


def device(library: Path, copy: Path) -> ctypes.CDLL:
    """Return a device that has just started."""
    copy.write_bytes(library.read_bytes())
    return ctypes.CDLL(str(copy))


def learned(program: ctypes.CDLL, Q: np.ndarray, labels: list[int]) -> Taught:
    """Teach points (n, features); return what the device should know."""
    taught, points = Taught.nothing(3), coordinates(SMALL, Q)
    for q, point, label in zip(Q, points, labels, strict=True):
        program.pnn_predict(q.tobytes())
        assert program.pnn_learn(label) == 1
        taught = taught.learn(point, label, room=5)
    return taught


def saved(program: ctypes.CDLL) -> bytes:
    buffer = ctypes.create_string_buffer(teaching.store_of(SMALL).size)
    program.pnn_store_save(buffer)
    return buffer.raw


def test_bytes_that_a_program_kept_teach_a_device_that_starts(library, tmp_path) -> None:
    Q = random_inputs(4, 20, SMALL)
    first = device(library, tmp_path / "first.so")
    taught = learned(first, Q[:7], [0, 1, 2, 1, 1, 0, 2])
    kept = saved(first)
    assert teaching.recalled(SMALL, kept) == taught
    second = device(library, tmp_path / "second.so")
    assert second.pnn_store_load(bytes(len(kept))) == second.pnn_taught() == 0
    assert second.pnn_store_load(kept) == len(taught) == 5
    expected = teaching.with_taught(SMALL, taught).predict(Q)
    assert [second.pnn_predict(q.tobytes()) for q in Q] == expected.tolist()


def test_a_damaged_example_is_left_out_and_other_models_change_nothing(library, tmp_path) -> None:
    program, store = device(library, tmp_path / "model.so"), teaching.store_of(SMALL)
    learned(program, random_inputs(5, 2, SMALL), [0, 2])
    kept = saved(program)
    records = range(store.header, store.size, store.record)
    for place in (at + n for at in records if kept[at] < 3 for n in range(store.record)):
        damaged = bytearray(kept)
        damaged[place] ^= 4
        assert program.pnn_store_load(bytes(damaged)) == 1
    assert program.pnn_store_load(kept) == 2
    other = bytes([kept[0], kept[1] ^ 1, *kept[2:]])
    assert program.pnn_store_load(other) == 0
    assert program.pnn_taught() == 2
    hidden = bytearray(kept)
    hidden[store.hidden] = store.all_hidden  # which no CRC protects
    assert program.pnn_store_load(bytes(hidden)) == 2


def test_sketches_name_the_functions_that_keep_the_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "taught"
    export(replace(random_model(), teachable=5), "arduino", folder, "pico", tries=False)
    for example in ("TeachButtons", "TeachPresses", "Stream"):
        compiled("g++", folder, example, "-fsyntax-only")
    sketch = (folder / "examples" / "TeachButtons" / "TeachButtons.ino").read_text()
    assert "  restoreExamples();\n" in sketch
    for path in folder.rglob("*"):
        assert path.is_dir() or "the EEPROM" not in path.read_text(), path
