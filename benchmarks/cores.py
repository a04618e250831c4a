"""Firmware on the Arduino core's functions, on six cores of QEMU: answers, and instructions.

A row is a core and a kind of model, or of answer, trained on data of scikit-learn or on generated
windows. The firmware of `build --board` answers the test points over a serial line, as a board
would. A mismatch is a point without an answer, or with a score or a class that is not NumPy's.
*Seen* are the mismatches after one bit of the model has changed in the linked program.

A core of QEMU counts instructions, and is not the board for which its firmware is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from boards32 import FEATURES, WINDOW, windows
from columns import Record, figure, mean_and_most, named
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from numpy.typing import NDArray
from runner import Benchmark, Case
from sklearn.datasets import load_diabetes

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.registry import REGRESSORS
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.system.errors import ProtoNNEdgeError

BOARDS = ("microbit", "bluepill", "uno-r4-minima", "teensy41", "esp32-c3", "esp8266")
"""Each for a core of its own: M0, M3, M4, M7, RV32 and LX106."""
_POINTS = 100
_TRIES = 20  # bytes: some are of rare branches
Points = NDArray[Any]


def _digits(kind: str) -> tuple[Model, Points]:
    data = load_digits_dataset()
    return CLASSIFIERS[kind](random_state=0).fit(data.X_train, data.y_train).to_model(), data.X_test


def _windows() -> tuple[Model, Points]:
    data = windows()
    learner = CLASSIFIERS["protonn"](random_state=0, features=FEATURES, window_shape=WINDOW)
    return learner.fit(data.X_train, data.y_train).to_model(), data.X_test


def _number() -> tuple[Model, Points]:
    X, y = load_diabetes(return_X_y=True)
    return REGRESSORS["protonn"](random_state=0).fit(X[:300], y[:300]).model_, X[300:]


def _sets() -> tuple[Model, Points]:
    """Return a model of two labels of a digit: it is even, and it is less than 5."""
    data = load_digits_dataset()
    sets = np.column_stack([data.y_train % 2 == 0, data.y_train < 5]).astype(np.int64)
    return CLASSIFIERS["protonn"](random_state=0).fit(data.X_train, sets).to_model(), data.X_test


def _rejecting() -> tuple[Model, Points]:
    """Return a model that answers "unknown"; a tenth of its points are of no class."""
    data = load_digits_dataset()
    learner = CLASSIFIERS["protonn"](random_state=0).fit(data.X_train[:1000], data.y_train[:1000])
    calibrate_rejection(learner, data.X_train[1000:], rate=0.01)
    X = np.array(data.X_test)
    X[::10] = 16 - X[::10]
    return learner.to_model(), X


def _one_board(model: Model, X: Points, board: Board) -> Record:
    with trial_build(model, board) as trial:
        chain = trial.model.chain
        Q = chain.quantize(X[:_POINTS].astype(np.float32))
        differing, instructions = _run(trial.elf, board, chain, Q)
        return {
            "n": len(Q),
            "mismatches": differing,
            "instructions": {"mean": float(np.mean(instructions)), "max": max(instructions)},
            "flash": trial.usage.flash_bytes,
            "seen": _with_a_fault(trial.elf, board, chain, Q),
        }


def _run(elf: Path, board: Board, chain: IntegerChain, Q: Points) -> tuple[int, list[int]]:
    """Return how many points differ or have no answer, and the instructions of each."""
    with family_of(board).emulated(elf, board) as emulated:
        agreement, results = verify_device(board.name, emulated.url, chain, Q, board=board)
    return agreement.mismatches + agreement.lost, [result.cycles or 0 for result in results]


def _with_a_fault(elf: Path, board: Board, chain: IntegerChain, Q: Points) -> int | None:
    """Return the mismatches with one bit of the model changed; None if it never matters."""
    begin, size = _largest_part(elf)
    for place in np.random.default_rng(0).integers(size, size=_TRIES).tolist():
        program, damaged = bytearray(elf.read_bytes()), elf.with_name("damaged.elf")
        program[begin + place] ^= 1
        damaged.write_bytes(program)
        try:
            if differing := _run(damaged, board, chain, Q)[0]:
                return differing
        except ProtoNNEdgeError:  # it does not even start
            return len(Q)
    return None


def _largest_part(elf: Path) -> tuple[int, int]:
    """Return where the model's largest table is in a file, else its largest function, and bytes."""
    with elf.open("rb") as file:
        program, source, parts = ELFFile(file), "", []
        table = program.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection), "firmware has symbols"
        for symbol in table.iter_symbols():
            kind, place = symbol["st_info"]["type"], symbol["st_shndx"]
            source = symbol.name if kind == "STT_FILE" else source
            if source == "pnn_model.c" and isinstance(place, int) and symbol["st_size"]:
                section = program.get_section(place)
                begin = (symbol["st_value"] & ~1) - section["sh_addr"] + section["sh_offset"]
                if section["sh_type"] == "SHT_PROGBITS":
                    parts.append((kind == "STT_OBJECT", symbol["st_size"], begin))
    _, size, begin = max(parts)
    return begin, size


def measure(case: Case) -> Iterator[Record]:
    """Yield the row of each core."""
    model, X = case.given()
    for name in BOARDS:
        board = load_board(name)
        yield {"model": case.name, "board": name, "core": board.core, **_one_board(model, X, board)}


_MAKERS: dict[str, Callable[[], tuple[Model, Points]]] = {
    **{kind: partial(_digits, kind) for kind in ("protonn", "linear", "forest", "dense")},
    "windows": _windows,
    "a number": _number,
    "sets of labels": _sets,
    "rejection": _rejecting,
}
BENCHMARKS = {
    "cores": Benchmark(
        "The firmware on an Arduino core, on six emulated cores.",
        [Case(name, make) for name, make in _MAKERS.items()],
        (
            *named("model", "board", "core"),
            figure("points", "n"),
            *named("mismatches", "seen"),
            figure("instructions mean (max)", "instructions", mean_and_most),
            figure("flash B", "flash", ","),
        ),
        measure,
    ),
}
