"""A small sample of the tables of `benchmarks/leaks.py`: leaks are found, and nothing else is."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TABLES = 6


@pytest.fixture(scope="module")
def tables():
    """Return the cases, and the function that judges a table."""
    sys.path.append(str(BENCHMARKS))
    try:
        leaks = pytest.importorskip("leaks", reason="needs benchmarks/ of the checkout")
    finally:
        sys.path.remove(str(BENCHMARKS))
    return {case.name: case.given for case in leaks.CASES}, leaks.warned


@pytest.mark.parametrize(
    "family", ["copy", "cut", "flags", "scores", "xor", "quotient", "number", "sets"]
)
def test_columns_that_give_the_label_away_are_found(tables, family) -> None:
    cases, warned = tables
    found = [warned(*cases[family], np.random.default_rng([seed, 7])) for seed in range(TABLES)]
    assert found.count("right") >= TABLES - 1
    assert "wrong" not in found


@pytest.mark.parametrize("family", ["weak", "strong", "value"])
def test_honest_measurements_are_not_warned_of(tables, family) -> None:
    cases, warned = tables
    for seed in range(TABLES):
        assert warned(*cases[f"honest {family}"], np.random.default_rng([seed, 7])) == "nothing"
