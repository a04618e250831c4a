"""A metric is a figure of the answers of a fold, and the one that is maximized decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from command_line import run, run_json
from learn.tuning.trials import drawn, tried
from refusals import refused_by

from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.learn.search.limits import ACCURACY, Metric
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.search import identity
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record

CLASSES = ("ok", "Fault", "1")
ACTUAL = np.array([0, 0, 0, 0, 0, 0, 1, 1, 2, 2])
FOUND = np.array([0, 0, 0, 0, 0, 0, 0, 1, 0, 0])


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("accuracy", 0.7),
        ("balanced-accuracy", 0.5),
        ("macro-f1", (12 / 15 + 2 / 3 + 0) / 3),
        ("recall:Fault", 0.5),
        ("recall:1.0", 0.0),
    ],
)
def test_every_metric_is_that_of_the_answers(text: str, figure: float) -> None:
    assert Metric.parse(text, CLASSES).of(FOUND, ACTUAL, 3) == pytest.approx(figure)


@pytest.mark.parametrize("text", ["recall:fautl", "recall:zzzzzz", "acuracy", "recall", ""])
def test_what_is_no_metric_of_the_data_is_refused(text: str) -> None:
    with refused_by("learn.search.limits"):
        Metric.parse(text, CLASSES)


def test_a_class_must_be_in_every_fold() -> None:
    y, folds = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    recall = Metric.parse("recall:Fault", CLASSES)
    recall.check_folds(y, folds)
    with refused_by("learn.search.limits"):
        recall.check_folds(y[[0, 1, 2, 0]], folds)
    ACCURACY.check_folds(y[[0, 0, 0, 0]], folds)


def test_a_fold_is_scored_and_pruned_by_the_metric(make_points) -> None:
    points = make_points()
    other = replace(points, metric=Metric("recall:3", 3))
    start = SearchSpace(points).starts[0]
    trials = [tried(Objective(SearchSpace(each)), start) for each in (points, other)]
    results = [Record.of(trial) for trial in trials]
    assert results[0].scores == results[0].accuracies == results[1].accuracies
    assert results[1].scores != results[1].accuracies
    for trial, result in zip(trials, results, strict=True):
        steps = {1: result.scores[0], 2: pytest.approx(result.score)}
        assert trial.intermediate_values == steps


def test_classes_may_be_weighted_where_not_accuracy_is_maximized(make_points) -> None:
    points = make_points()
    other = replace(points, metric=Metric("macro-f1"))
    assert "class_weight" not in drawn(SearchSpace(points))
    space = SearchSpace(other)
    assert all(start["class_weight"] == "balanced" for start in space.starts)
    assert None in space.specs["protonn"][None].parameters["class_weight"].values
    assert other.untrained(space.starts[0]).class_weight == "balanced"
    fixed = replace(other, fixed={"class_weight": None})
    assert "class_weight" not in drawn(SearchSpace(fixed))
    told = [identity(Objective(SearchSpace(each)))["metric"] for each in (points, other)]
    assert told == ["accuracy", "macro-f1"]
    every = replace(other, fixed={}, classifier="any")
    specs = SearchSpace(every).specs
    assert specs.keys() == CLASSIFIERS.keys() - {"basis-images"}
    assert all("class_weight" in spec[None].parameters for spec in specs.values())


@needs_avr_gcc
def test_the_rarest_class_is_found_by_its_recall(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.array(["ok"] * 300 + ["fault"] * 24)
    X = rng.normal(size=(324, 3)) + 1.2 * (labels == "fault")[:, None]
    data, model = tmp_path / "machines.npz", tmp_path / "model.npz"
    np.savez(data, X_train=X.astype(np.float32), y_train=labels)
    command = ("tune", data, "-o", model, "--classifier", "linear", "--folds", 2, "--jobs", 1)
    plain = run_json(*command, "--trials", 2)
    refused = run(*command, "--trials", 2, "--metric", "recall:fault")
    assert refused.exit_code == 2
    assert "of another search (it differs in metric" in refused.stderr
    (tmp_path / "model.search.jsonl").unlink()
    done = run(*command, "--trials", 2, "--metric", "recall:fault")
    assert "recall:fault %" in done.output
    assert "accuracy %" in done.output
    assert ", recall:fault " in done.output
    record = run_json(*command, "--trials", 2, "--metric", "recall:fault")
    assert record["metric"] == "recall:fault"
    chosen = record["cross_validated"]
    assert chosen["score"] == pytest.approx(np.mean(chosen["fold_scores"]))
    assert chosen["score"] > 0.6
    assert chosen["accuracy"] < plain["cross_validated"]["accuracy"]
