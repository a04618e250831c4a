"""Models on cores of 32 bits, and other tools': answers, and cycles by the cores' tables.

A model of each kind is trained on scikit-learn's digits, and one of features of windows. Its C runs
in QEMU on a Cortex-M0 and a Cortex-M4, compiled by arm-none-eabi-gcc -O2. A mismatch is a point
with a score or a class that is not NumPy's. Cycles are those of the executed instructions, by the
tables of a Cortex-M0+ (ARM DDI 0484C) and a Cortex-M4 (DDI 0439) for memory without wait states: no
chip was measured. Bytes are those of code and constants that a linker keeps, with functions of the
compiler's libraries.

Other tools' programs are counted in the same way, each at its best level of -O2, -O3 and -Os on
each core, for the same digits: CMSIS-NN's network of the same size, and a random forest of
scikit-learn (10 trees of up to 60 leaves) in emlearn's C and in ours. What turns features into the
numbers that a program takes is not counted.

Needs for other tools: pip install emlearn, and the folder of CMSIS-NN's sources, with Include and
Source; a program that is not there has a row with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from bare_program import NotThere, Source
from bare_program32 import fastest
from cmsis_nn import Layer, check_sources, network
from codegen.words.chips import CHIPS, HOW, emulated
from columns import Record, figure, mean_and_most, named
from peer_tools import EMLEARN, voting
from runner import Benchmark, Case
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

CORES = (CHIPS["m0"], CHIPS["m4"])
_LARGE = {name: getattr(CHIPS["m4"], name) for name in ("emulator", "rom", "ram")}
ROOMY = tuple(replace(chip, **_LARGE) for chip in CORES)
"""The same cores in a machine with memory for any tool: a Cortex-M4 executes an M0+'s code, too."""
WINDOW, CLASSES = (64, 3), 3
FEATURES = "mean,deviation,min,max,crossings,bands:4"
_UNITS = 20  # of a network's hidden layer: the default
_LARGEST_PIXEL = 16


def windows() -> Dataset:
    """Return windows of three channels: noise, a slow wave, a fast wave; a third are for tests."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % CLASSES
    turns = np.arange(WINDOW[0])[:, None] * np.array([0.1, 0.4, 1.5])[y][:, None, None]
    waves = (40 * np.array([0, 1, 1]))[y][:, None, None] * np.sin(turns + rng.random((300, 1, 3)))
    X = (128 + waves + rng.normal(0, 15, (300, *WINDOW))).round().reshape(300, -1)
    return Dataset(X[:200], y[:200], X[200:], y[200:], ("noise", "slow", "fast"))


def digits() -> Dataset:
    """Return scikit-learn's digits."""
    return load_digits_dataset()


def ours(kind: str) -> Record:
    """Return the figures of a model of ours."""
    dataset, settings = digits(), dict[str, Any]()
    if kind == "protonn":
        settings = {"n_projections": 10, "n_prototypes": 40}
    elif kind == "windows":
        dataset, settings = windows(), {"features": FEATURES, "window_shape": WINDOW}
    learner = CLASSIFIERS.get(kind, CLASSIFIERS["protonn"])(random_state=0, **settings)
    chain = quantize(learner.fit(dataset.X_train, dataset.y_train).to_model())
    return _of_chain(chain, dataset) | {"model": kind}


def our_forest() -> Record:
    """Return our figures of the forest that emlearn is given."""
    data = digits()
    X = np.asarray(data.X_train, np.float64)
    voters = voting(_FOREST.fit(X, data.y_train))
    return _of_chain(quantize(from_sklearn(voters, X, classes=data.classes).model), data)


def _of_chain(chain: IntegerChain, data: Dataset) -> Record:
    Q = chain.quantize(data.X_test)
    record: Record = {"tool": "protonn-edge", "n": len(Q), "mismatches": 0}
    record["accuracy"] = 100 * float(np.mean(chain.predict(Q) == data.y_test))
    for chip in CORES:
        done = emulated(chip, chain, Q, count=True)
        record["mismatches"] += done.differing
        record[chip.name] = {"mean": done.cycles, "max": done.most, "bytes": done.code_bytes}
    return record


# --- other tools ----------------------------------------------------------------------------------

_FOREST = RandomForestClassifier(10, max_leaf_nodes=60, random_state=0, n_jobs=1)


def cmsis_nn(folder: Path | None) -> Iterator[Source]:
    """Yield CMSIS-NN's network of as many units."""
    check_sources(folder)
    assert folder is not None
    data = digits()
    X = np.asarray(data.X_train, np.float64)
    fitted = MLPClassifier((_UNITS,), max_iter=400, random_state=0)
    fitted.fit(X / _LARGEST_PIXEL, data.y_train)
    fitted.coefs_[0] /= _LARGEST_PIXEL
    first, second = fitted.coefs_
    layers = [
        Layer(first, fitted.intercepts_[0], relu=True),
        Layer(second, fitted.intercepts_[1], relu=False),
    ]
    yield network(folder, layers, X, np.asarray(data.X_test))


def emlearn_forest(_folder: Path | None) -> Iterator[Source]:
    """Yield emlearn's programs of the same forest."""
    EMLEARN.check()
    data = digits()
    trained = EMLEARN.trained(_FOREST, np.asarray(data.X_train, np.float64), data.y_train)
    yield from EMLEARN.sources(trained, data)


PEERS = {"dense": ("CMSIS-NN", cmsis_nn), "the same forest": ("emlearn", emlearn_forest)}


def peers(name: str, folder: Path | None) -> Iterator[Record]:
    """Yield the figures of another tool's programs of a kind."""
    tool, sources = PEERS[name]
    try:
        for source in sources(folder):
            yield {"model": name, "tool": tool, **_of_source(source)}
    except NotThere as error:
        yield {"model": name, "tool": tool, "failure": str(error)}


def _of_source(source: Source) -> Record:
    record: Record = {"mode": source.mode, "n": len(source.points)}
    for chip in ROOMY:
        done = fastest(source, chip)
        record["accuracy"] = 100 * float(np.mean(done.answers == digits().y_test))
        record[chip.name] = {"mean": done.cycles, "max": done.most, "bytes": done.n_bytes}
    return record


def measure(case: Case, cmsis_nn: Path | None) -> Iterator[Record]:
    """Yield the figures of a model, and of other tools' programs of its kind."""
    if CHIPS["m4"].missing:
        raise InputError(HOW)
    yield our_forest() | {"model": case.name} if case.name in _SAME else ours(case.name)
    if case.name in PEERS:
        yield from peers(case.name, cmsis_nn)


_SAME = ("the same forest",)
CASES = [Case(name) for name in ("protonn", "linear", "dense", "forest", "windows", *_SAME)]
_M0, _M4 = (chip.name for chip in CORES)
BENCHMARKS = {
    "boards32": Benchmark(
        "Models, and other tools' programs, on cores of 32 bits.",
        CASES,
        (
            *named("model", "tool", "mode"),
            figure("accuracy %", "accuracy", ".1f"),
            *named("n", "mismatches", "failure"),
            figure("M0+ cycles (max)", _M0, mean_and_most),
            figure("M4 cycles (max)", _M4, mean_and_most),
            figure("M0+ B", f"{_M0}.bytes", ","),
            figure("M4 B", f"{_M4}.bytes", ","),
        ),
        measure,
        options=(
            click.option(
                "--cmsis-nn", type=click.Path(path_type=Path), metavar="FOLDER", help="Its sources."
            ),
        ),
    ),
}
