"""Searches for a model that predicts a number maximize R2 of the integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_json, succeed
from learn.tuning.trials import judged
from policy.value.numbers import points, write_table

from protonn_edge.chips.boards import load_board
from protonn_edge.learn.folds import search_folds
from protonn_edge.learn.search.limits import TuningLimits
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.model.file import load_model
from protonn_edge.model.registry import REGRESSORS
from protonn_edge.policy.value.rule import Value
from protonn_edge.policy.value.tuning import ExplainedShare, ValueFidelity

NAMED = ("--label", "temperature")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("searched") / "data.csv")


def trial_points(kind: str) -> TrialPoints:
    X, y = points(n=120)
    metric = ExplainedShare()
    folds = search_folds(metric.strata(y), 2, 0)
    board = load_board("uno")
    return TrialPoints(X, y, folds, board, TuningLimits(), classifier=kind, metric=metric)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_trial_of_each_kind_has_r2_of_its_integers(kind: str) -> None:
    space = SearchSpace(trial_points(kind))
    record = judged(Objective(space), space.starts[0])
    assert record.outcome == "complete", record.reason
    assert 0.4 < record.score < 1
    assert record.loss == pytest.approx(1 - record.score)


def test_kinds_that_cannot_predict_a_number_are_not_searched() -> None:
    assert set(trial_points("any").kinds) == set(REGRESSORS)


def test_each_fold_has_numbers_of_every_size() -> None:
    given = trial_points("linear")
    for fold in range(given.n_folds):
        tested = given.y[given.tested_in(fold)]
        assert np.quantile(tested, 0.9) > np.quantile(given.y, 0.8)
        assert np.quantile(tested, 0.1) < np.quantile(given.y, 0.2)


def test_tune_writes_the_model_with_the_highest_r2(table: Path, tmp_path: Path) -> None:
    words = ("--classifier", "linear", "--trials", 3, "--folds", 2, "--jobs", 1)
    output = tmp_path / "model.npz"
    told = run_json("tune", table, *NAMED, *words, "-o", output)
    assert told["metric"] == "R2"
    assert told["cross_validated"]["score"] == told["most_accurate"]["score"] > 0.4
    assert told["test"]["r2"] > 0.4
    value = load_model(output).policy.find(Value)
    assert value is not None
    assert value.half_width is not None
    printed = succeed("tune", table, *NAMED, *words, "-o", tmp_path / "other.npz").stdout
    assert f"R2 {told['cross_validated']['score']:.4f} in cross-validation" in printed


def test_train_searches_all_kinds_for_as_long_as_it_may(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30_000, 40)).astype(np.float32)
    np.savez(tmp_path / "many.npz", X=X, y=X[:, 0])  # which no computer fits in 60 ms
    words = ("--classifier", "best", "--minutes", 0.001, "--target", "value")
    told = run("train", tmp_path / "many.npz", *words, "-o", tmp_path / "model.npz")
    assert "no trial was completed" in told.stderr


def test_integers_that_lose_r2_are_noticed() -> None:
    assert ValueFidelity(100, 0.95, 0.945).notices() == []
    assert [each.kind for each in ValueFidelity(100, 0.95, 0.90).notices()] == ["integers"]
