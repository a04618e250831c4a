"""Models on cores of 32 bits, and other tools': answers, and cycles by the cores' tables.

    python benchmarks/boards32.py [--only NAME] [--cmsis-nn FOLDER] [--json]

trains a model of each kind on scikit-learn's digits and on recordings of smartphones (har), and one
of features of windows, and runs its generated C in QEMU on a Cortex-M0 and a Cortex-M4, compiled by
arm-none-eabi-gcc -O2. A mismatch is a point with a score or a class that is not NumPy's. Cycles are
those of the executed instructions, by the tables of a Cortex-M0+ (ARM DDI 0484C) and a Cortex-M4
(DDI 0439) for memory without wait states: no chip was measured. Bytes are those of code and
constants that a linker keeps, with functions of the compiler's libraries.

Other tools' programs are counted in the same way, each at its best level of -O2, -O3 and -Os on
each core: for the same digits, what emlearn, m2cgen and CMSIS-NN have of the kind, and a random
forest of scikit-learn (10 trees of up to 60 leaves) that all tools are given. The Cortex-M4 has a
unit for floats. What turns features into the numbers that a program takes is not counted.

Needs for other tools: pip install emlearn m2cgen, and the folder of CMSIS-NN's sources, with
Include and Source. The recordings are read from the folder that PROTONN_EDGE_DATA names (default
../shared/data); a program or data that is not there has a row with the reason.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from bare_program import NotThere, Source
from bare_program32 import fastest
from cmsis_nn import Layer, network
from peer_tools import EMLEARN, M2CGEN, emlearn_call, voting
from printing import Record, print_table
from rows import Row
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from words.chips import CHIPS, HOW, Chip, emulated

from protonn_edge import (
    BonsaiClassifier,
    DenseClassifier,
    ForestClassifier,
    LinearClassifier,
    ProtoNNClassifier,
)
from protonn_edge.data.dataset import Dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

ASKED = {
    "protonn": (7_000, 4_500),
    "linear": (1_500, 1_300),
    "dense": (3_800, 3_200),
    "forest": (900, 700),
    "conv": (74_670 // 2, 52_911 // 2),
    "windows": (37_304 // 2, 25_147 // 2),
}
"""Most mean cycles on M0+ and M4 for which the kernels were written."""

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
    found = Row("digits", None).dataset()
    assert found is not None
    return found


def har() -> Dataset:
    """Return recordings of smartphones, which this machine may not have."""
    found = Row("har", "har_hapt.npz").dataset()
    if found is None:
        raise NotThere("no data; set PROTONN_EDGE_DATA")
    return found


_KINDS: dict[str, Any] = {
    "protonn": ProtoNNClassifier(n_projections=10, n_prototypes=40, random_state=0),
    "linear": LinearClassifier(random_state=0),
    "dense": DenseClassifier(random_state=0),
    "forest": ForestClassifier(random_state=0),
    "bonsai": BonsaiClassifier(random_state=0),
}
_MODELS: dict[str, tuple[Callable[[], Dataset], Any]] = {
    **{kind: (digits, learner) for kind, learner in _KINDS.items()},
    "conv": (
        digits,
        DenseClassifier(features="conv:8x3,max2", image_shape=(8, 8), random_state=0),
    ),
    "windows": (
        windows,
        ProtoNNClassifier(features=FEATURES, window_shape=WINDOW, random_state=0),
    ),
    **{f"har {kind}": (har, learner) for kind, learner in _KINDS.items()},
}


# --- ours -----------------------------------------------------------------------------------------


def ours(name: str) -> Record:
    """Return the figures of a model of ours."""
    data, learner = _MODELS[name]
    dataset = data()
    chain = quantize(learner.fit(dataset.X_train, dataset.y_train).to_model())
    return {"name": name, "asked": ASKED.get(name)} | _of_chain(chain, dataset)


def _of_chain(chain: IntegerChain, data: Dataset) -> Record:
    Q = chain.quantize(data.X_test)
    record: Record = {"tool": "protonn-edge", "n": len(Q), "mismatches": 0}
    record["accuracy"] = float(np.mean(chain.predict(Q) == data.y_test))
    for chip in CORES:
        done = emulated(chip, chain, Q, count=True)
        record["mismatches"] += done.differing
        record[chip.name] = {"cycles": done.cycles, "most": done.most, "bytes": done.code_bytes}
    return record


# --- other tools ----------------------------------------------------------------------------------

Programs = Callable[[Dataset, Path | None], Iterator[tuple[str, Any]]]


def _linear(data: Dataset, cmsis_nn: Path | None) -> Iterator[tuple[str, Any]]:
    X = np.asarray(data.X_train, np.float64)
    fitted = LogisticRegression(max_iter=2_000).fit(X, data.y_train)
    yield "m2cgen", lambda: _of_tool(M2CGEN, fitted, data)
    layers = [Layer(fitted.coef_.T, fitted.intercept_, relu=False)]
    yield "CMSIS-NN", lambda: [network(cmsis_nn, layers, X, np.asarray(data.X_test))]


def _dense(data: Dataset, cmsis_nn: Path | None) -> Iterator[tuple[str, Any]]:
    X = np.asarray(data.X_train, np.float64)
    fitted = MLPClassifier((_UNITS,), max_iter=400, random_state=0)
    fitted.fit(X / _LARGEST_PIXEL, data.y_train)
    fitted.coefs_[0] /= _LARGEST_PIXEL
    first, second = fitted.coefs_
    layers = [
        Layer(first, fitted.intercepts_[0], relu=True),
        Layer(second, fitted.intercepts_[1], relu=False),
    ]
    yield "emlearn", lambda: _emlearn_networks(fitted, data)
    yield "CMSIS-NN", lambda: [network(cmsis_nn, layers, X, np.asarray(data.X_test))]


def _emlearn_networks(fitted: MLPClassifier, data: Dataset) -> Iterator[Source]:
    """Yield a network in floats.

    With 0.23.2, code for fixed-point numbers is empty, and code that it calls inline is generated
    only if an activation is a number, which is what it needs there instead of a name.
    """
    EMLEARN.check()
    import emlearn  # type: ignore[import-not-found]  # may not be there

    with TemporaryDirectory() as folder, chdir(folder):  # where it compiles for this computer
        model = emlearn.convert(fitted, kind="MLPClassifier", method="loadable")
    numbers = emlearn.net.ACTIVATION_FUNCTIONS
    emlearn.net.c_activation_function, named = numbers.index, emlearn.net.c_activation_function
    points = np.asarray(data.X_test, np.float32)
    for method in ("loadable", "inline"):
        code = model.save(name="net", inference=[method]) + emlearn_call("net")
        files = {"classify.c": code}
        yield Source(f"{method} float", "float", points, files, Path(emlearn.includedir))
    emlearn.net.c_activation_function = named


def _forest(data: Dataset, _cmsis_nn: Path | None) -> Iterator[tuple[str, Any]]:
    """Yield the programs of a forest, the same for all."""
    shape = RandomForestClassifier(10, max_leaf_nodes=60, random_state=0, n_jobs=1)
    for tool in (EMLEARN, M2CGEN):
        trained = tool.trained(shape, np.asarray(data.X_train, np.float64), data.y_train)
        yield tool.name, lambda tool=tool, trained=trained: _of_tool(tool, trained, data)


def _of_tool(tool: Any, trained: Any, data: Dataset) -> Iterator[Source]:
    tool.check()
    yield from tool.sources(trained, data)


def our_forests() -> Iterator[Record]:
    """Yield our rows for the forest that all tools are given."""
    data = digits()
    X = np.asarray(data.X_train, np.float64)
    forest = RandomForestClassifier(10, max_leaf_nodes=60, random_state=0, n_jobs=1)
    forest.fit(X, data.y_train)
    for mode, given in (("votes", voting(forest)), ("shares", forest)):
        chain = quantize(from_sklearn(given, X, classes=data.classes).model)
        yield {"name": "the same forest", "mode": mode} | _of_chain(chain, data)


PEERS: dict[str, tuple[str, Programs]] = {
    "linear": ("linear", _linear),
    "dense": (f"network of {_UNITS} units", _dense),
    "the same forest": ("the same forest", _forest),
}


def peers(name: str, cmsis_nn: Path | None) -> Iterator[Record]:
    """Yield the figures of other tools' programs of a kind."""
    data = digits()
    title, programs = PEERS[name]
    for tool, sources in programs(data, cmsis_nn):
        about: Record = {"name": title, "tool": tool}
        try:
            yield from (about | _of_source(source, data) for source in sources())
        except NotThere as error:
            yield about | {"failure": str(error)}


def _of_source(source: Source, data: Dataset) -> Record:
    record: Record = {"mode": source.mode, "n": len(source.points)}
    for chip in ROOMY:
        done = fastest(source, chip)
        record["accuracy"] = float(np.mean(done.answers == data.y_test))
        figures = {"cycles": done.cycles, "most": done.most, "bytes": done.n_bytes}
        record[chip.name] = figures | {"level": done.level}
    return record


# --- printing -------------------------------------------------------------------------------------


def _cycles(chip: Chip) -> Callable[[Record], str]:
    def cell(record: Record) -> str:
        found = record.get(chip.name, record)
        if "failure" in found:
            return str(found["failure"])
        level = f" {found['level']}" if "level" in found else ""
        return f"{found['cycles']:,} ({found['most']:,}){level}"

    return cell


def _bytes(chip: Chip) -> Callable[[Record], str]:
    return lambda r: f"{r[chip.name]['bytes']:,}" if "bytes" in r.get(chip.name, {}) else ""


COLUMNS = [
    ("model", lambda r: r["name"]),
    ("by", lambda r: " ".join(filter(None, (r["tool"], r.get("mode"))))),
    ("accuracy %", lambda r: f"{100 * r['accuracy']:.1f}" if "accuracy" in r else ""),
    ("mismatches", lambda r: f"{r['mismatches']} of {r['n']:,}" if "mismatches" in r else ""),
    ("M0+ cycles (max)", _cycles(CORES[0])),
    ("M4 cycles (max)", _cycles(CORES[1])),
    ("asked", lambda r: " / ".join(f"{each:,}" for each in r.get("asked") or ())),
    ("M0+ B", _bytes(CORES[0])),
    ("M4 B", _bytes(CORES[1])),
]


def records(only: str | None, cmsis_nn: Path | None) -> Iterator[Record]:
    """Yield the figures of each model, and of other tools' programs of its kind."""
    for name in dict.fromkeys([*_MODELS, *PEERS]):
        if only not in (None, name):
            continue
        if name in _MODELS:
            try:
                yield ours(name)
            except NotThere as error:
                yield {"name": name, "tool": "protonn-edge", "failure": str(error)}
        else:
            yield from our_forests()
        if name in PEERS:
            yield from peers(name, cmsis_nn)


@click.command()
@click.option("--only", type=click.Choice([*dict.fromkeys([*_MODELS, *PEERS])]), help="One model.")
@click.option(
    "--cmsis-nn", type=click.Path(path_type=Path), metavar="FOLDER", help="CMSIS-NN's sources."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, cmsis_nn: Path | None, as_json: bool) -> None:
    """Print the figures of the models."""
    if CHIPS["m4"].missing:
        sys.exit(f"error: {HOW}")
    print_table(records(only, cmsis_nn), COLUMNS, as_json)


if __name__ == "__main__":
    main()
