"""The comparison with other tools measures what it says, and runs where these are not installed."""

from __future__ import annotations

import dataclasses
import importlib
import json
from importlib import metadata
from types import ModuleType

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from checkout import CHECKOUT
from click.testing import CliRunner
from codegen.words.chips import CHIPS, HOW

from protonn_edge.data.points.dataset import Dataset

LARGER = """
#include "classify.h"
uint8_t classify(const feature_t *x) { return x[1] > x[0]; }
"""
SLOW_FOR_LARGE = """
#include "classify.h"
static volatile uint8_t passes;
uint8_t classify(const feature_t *x) { for (passes = 0; passes < x[0]; ++passes) {} return 7; }
"""


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """Return the modules of the benchmark."""
    monkeypatch.syspath_prepend(CHECKOUT / "benchmarks")
    names = (
        "bare_program",
        "bare_program32",
        "boards32",
        "cmsis_nn",
        "peer_tools",
        "peers",
        "trained",
    )
    return {name: importlib.import_module(name) for name in names}


def tiny_dataset(unit: float = 1.0) -> Dataset:
    """Return 400 points of 4 features and 3 classes, in five groups."""
    rng = np.random.default_rng(0)
    X = rng.integers(-40, 60, (400, 4)).astype(np.float32)
    y = (X[:, 0] > 5).astype(np.int64) + (X[:, 1] > 10)
    groups = np.arange(300) % 5
    train, test = slice(300), slice(300, 400)
    X = X * np.float32(unit)
    return Dataset(X[train], y[train], X[test], y[test], ("a", "b", "c"), groups)


def test_a_tool_that_is_not_installed_has_a_row_that_says_so(benchmark, monkeypatch):
    def none(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(benchmark["peer_tools"].metadata, "version", none)
    for name, comparison in (("emlearn", "its own best"), ("m2cgen", "the same boosted trees")):
        command = ["--only", "digits", "--tool", name, "--json"]
        run = benchmark["peers"].BENCHMARKS["peers"].command("peers")
        done = CliRunner().invoke(run, command, catch_exceptions=False)
        assert done.exit_code == 0
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert {row["compared"] for row in rows} >= {"the same forest", comparison}
        for row in rows:
            package = row["model"].partition(",")[0] if "boosted" in row["compared"] else name
            assert row["failure"] in {
                f"not installed: pip install {each}" for each in (name, package)
            }


@needs_emulated_avr
def test_a_program_is_measured_without_what_every_program_takes(benchmark):
    bare = benchmark["bare_program"]
    points = np.array([[1, 2], [2, 1], [200, 201]], np.uint8)
    source = bare.Source("", "uint8_t", points, {"classify.c": LARGER})
    with bare.linked(source, "-Os") as program:
        program.check_size()
        ran = program.run()
    assert ran["answers"].tolist() == [1, 0, 1]
    assert 0 < ran["cycles"]["mean"] <= ran["cycles"]["max"] < 20
    assert program.sram_bytes == 2  # the features
    assert 0 < program.flash_bytes < 50

    source = bare.Source("", "uint8_t", points, {"classify.c": SLOW_FOR_LARGE})
    with bare.linked(source, "-Os") as program:
        ran = program.run()
    assert ran["answers"].tolist() == [7, 7, 7]
    assert ran["cycles"]["max"] > 2 * ran["cycles"]["mean"]


@needs_avr_gcc
def test_a_program_that_does_not_compile_or_fit_says_why(benchmark):
    bare = benchmark["bare_program"]
    for type_, code, failure, sentence in (
        ("uint8_t", "int classify = y;", "DoesNotCompile", "undeclared"),
        ("uint8_t", f"static volatile char all[3000];{LARGER}x", "DoesNotCompile", "expected"),
        ("float", LARGER, "DoesNotFit", "of 2,048 B of SRAM"),
    ):
        points = np.zeros((1, 600), np.float32)
        source = bare.Source("", type_, points, {"classify.c": code})
        with (
            pytest.raises(getattr(bare, failure), match=sentence),
            bare.linked(source, "-Os") as program,
        ):
            program.check_size()


@needs_emulated_avr
def test_the_same_forest_has_the_answers_of_scikit_learn_in_every_mode(benchmark):
    peers, tools = benchmark["peers"], benchmark["peer_tools"]
    rows = list(peers.same_forest(tiny_dataset(), [tools.OURS]))
    assert {row["mode"] for row in rows} >= {"walk, shares", "walk, votes", "if-else, votes"}
    for row in rows:
        assert row["as_in_python"] == 1 or "shares" in row["mode"]
        assert row["as_in_python"] > 0.9
        assert row["n"] == 100


@needs_emulated_avr
def test_the_best_of_candidates_is_chosen_without_test_points(benchmark):
    peers, data = benchmark["peers"], tiny_dataset()
    good, bad = (
        peers._our_candidate("forest", {"n_trees": trees, "max_depth": depth})
        for trees, depth in ((5, None), (1, 1))
    )
    wrong = peers.replace(data, y_test=(data.y_test + 1) % 3)
    rows = [
        peers._best([bad, good], each, {"model": "forest"}, peers.FLASH) for each in (data, wrong)
    ]
    assert [row["n_trees"] for row in rows] == [5, 5]
    assert rows[0]["held_out"] == rows[1]["held_out"] > 0.8
    assert rows[0]["accuracy"] > 0.8 > rows[1]["accuracy"]


def test_the_largest_size_that_fits_is_found(benchmark, monkeypatch):
    peers, tools = benchmark["peers"], benchmark["peer_tools"]
    candidate = peers.Candidate(tools.OURS, "forest", {}, lambda _data, size: size, size=50)
    monkeypatch.setattr(peers, "_share", lambda _c, size, _d, _f: (200 + size) / 1000)
    size, trained = peers._largest(candidate, tiny_dataset(), 1000)
    assert size == trained
    assert 700 < size <= 800
    monkeypatch.setattr(peers, "_share", lambda *_: 1.5)
    with pytest.raises(peers.DoesNotFit, match=r"1\.5 times"):
        peers._largest(candidate, tiny_dataset(), 1000)


def test_features_become_bytes_without_loss_where_they_are_whole(benchmark):
    in_bytes = benchmark["peers"].in_bytes
    whole = tiny_dataset()
    found = in_bytes(whole)
    assert np.array_equal(found.X_test - found.X_test[0], whole.X_test - whole.X_test[0])
    for data in (found, in_bytes(tiny_dataset(unit=0.37))):
        assert data.X_train.min() >= 0
        assert data.X_train.max() <= 255
        assert (np.rint(data.X_test) == data.X_test).all()


def test_held_out_points_are_of_other_people_and_each_point_is_held_out_once(benchmark):
    data = tiny_dataset()
    parts = list(benchmark["trained"].held_out_in_turn(data, 5))
    assert [len(set(part.groups)) for part in parts] == [4] * 5
    assert all(len(part.X_train) + len(part.X_test) == len(data.X_train) for part in parts)
    tested = np.concatenate([part.X_test for part in parts])
    assert sorted(map(tuple, tested)) == sorted(map(tuple, data.X_train))
    alone = dataclasses.replace(data, groups=None)
    assert [len(part.y_test) for part in benchmark["trained"].held_out_in_turn(alone, 5)] == [
        60
    ] * 5


def test_a_program_for_32_bits_is_measured_without_what_every_program_takes(benchmark):
    bare, chip = benchmark["bare_program32"], CHIPS["m4"]
    if chip.missing:
        pytest.skip(HOW)
    points = np.array([[1, 2], [2, 1], [200, 201]], np.uint8)
    source = benchmark["bare_program"].Source("", "uint8_t", points, {"classify.c": LARGER})
    found = bare.measured(source, chip, "-O2")
    assert found.answers.tolist() == [1, 0, 1]
    assert 0 < found.cycles <= found.most < 20
    assert 0 < found.n_bytes < 30


def test_other_tools_that_are_not_there_have_rows_with_the_reason(benchmark, monkeypatch):
    tools = benchmark["peer_tools"]
    monkeypatch.setattr(tools.Tool, "_installed", "")
    data = benchmark["boards32"].digits()
    few = dataclasses.replace(data, X_train=data.X_train[:50], y_train=data.y_train[:50])
    monkeypatch.setattr(benchmark["boards32"], "digits", lambda: few)
    rows = [
        row
        for name in ("the same forest", "dense")
        for row in benchmark["boards32"].peers(name, None)
    ]
    assert [row["failure"] for row in rows] == [
        "not installed: pip install emlearn",
        "not given: --cmsis-nn FOLDER, with CMSIS-NN's Include and Source",
    ]
