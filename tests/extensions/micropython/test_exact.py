"""On every interpreter, modules of all stages and rules have NumPy's inputs, scores and answers."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from codegen.test_raw_inputs import model_of_decimals, model_of_many_scales, model_of_raw_ranges
from extensions.micropython.interpreters import INTERPRETERS, Interpreter, module_of, write_files
from kinds.kind import kind_of, kinds_with_models
from laws.conformance.instances import KINDS, instances_of
from model_factory import random_inputs
from random_chains import with_value

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import InputError

Points = tuple[IntegerChain, np.ndarray]  # a model, and quantized points (n, features)
INPUTS = {
    "decimals": model_of_decimals,
    "many": model_of_many_scales,
    "ranges": model_of_raw_ranges,
}
"""Models with all forms of raw numbers, which are whole in their own units, or floats."""


@cache
def models() -> dict[str, Points]:
    """Return every instance of conformance that a module can have, and models of all inputs."""
    found = {
        f"{kind}_{number}": (each.model, each.points)
        for kind in KINDS
        for number, each in enumerate(instances_of(kind))
        if text_of(each.model)
    }
    for name, made in INPUTS.items():
        chain = made()
        found[name] = (chain, random_inputs(1, 10, chain))
    for kind in kinds_with_models():
        chain = of_numbers(kind)
        if text_of(chain):
            found[f"number_{kind}"] = (chain, random_inputs(2, 10, chain))
    return found


def of_numbers(kind: str) -> IntegerChain:
    """Return a model of numbers; many random ones have sums that overflow."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        with suppress(InputError):
            return with_value(rng, kind_of(kind).drawn(rng, 9, 1, 15))
    raise AssertionError(kind)


def text_of(chain: IntegerChain) -> str:
    """Return a model's module, or nothing if there is none."""
    try:
        return module_of(chain).text
    except InputError:
        return ""


def raw_points(chain: IntegerChain, Q: np.ndarray) -> np.ndarray:
    """Return whole numbers for quantized points, and the ends and some others of 16 bits."""
    rng = np.random.default_rng(1)
    least, most = -(1 << 15), (1 << 15) - 1
    at = chain.raw_inputs.integers(chain.quantizer.restore(Q)).astype(np.int64)
    near = at + rng.integers(-3, 4, at.shape)
    others = rng.integers(least, most + 1, (4, chain.n_features))
    ends = rng.choice([least, most, 0, 1, -1], (4, chain.n_features))
    return np.clip(np.concatenate([at, near, others, ends]), least, most)


def raw_floats(chain: IntegerChain, Q: np.ndarray) -> np.ndarray:
    """Return floats of 32 bits: of points, their neighbours, any bits, and special numbers."""
    rng = np.random.default_rng(2)
    with np.errstate(over="ignore"):
        at = chain.quantizer.restore(Q).astype(np.float32)
        edges = (chain.quantizer.restore(Q) + chain.quantizer.step / 2).astype(np.float32)
    near = np.nextafter(edges, rng.choice(np.float32([-np.inf, np.inf]), edges.shape))
    bits = rng.integers(0, 1 << 32, (6, chain.n_features), np.uint32).view(np.float32)
    special = np.float32([0, -0.0, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, -3.4e38])
    return np.concatenate([at, edges, near, bits, rng.choice(special, (4, chain.n_features))])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return folders with all modules and points, by whether they may be in machine code."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("viper", "plain")}
    for name, (chain, Q) in models().items():
        raw = raw_points(chain, Q[:: len(Q) // 6])
        floats = raw_floats(chain, Q[:4]) if name in INPUTS else None
        for interpreter in (INTERPRETERS[0], INTERPRETERS[2]):
            folder = folders["viper" if interpreter.with_viper else "plain"]
            write_files(folder, name, chain, interpreter.text(text_of(chain)), raw, floats)
    return folders


@pytest.mark.parametrize("interpreter", INTERPRETERS, ids=lambda each: each.name)
def test_answers_are_those_of_numpy(interpreter: Interpreter, written: dict[str, Path]) -> None:
    folder = written["viper" if interpreter.with_viper else "plain"]
    lines = [line.split() for line in interpreter.run(folder, "check.py").splitlines()]
    assert len(lines) == len(models()) + len(INPUTS) > 40
    assert [line for line in lines if line[1] != "0" or line[3] != "True"] == []
    assert {line[4] for line in lines} == {str(interpreter.name == "MicroPython")}
