"""Where any kind of classifier is searched, each has its own space, and the best is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from command_line import run_json, succeed
from learn.tuning.trials import drawn

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.learn.learner import LEARNERS, Learner
from protonn_edge.learn.search import ANY
from protonn_edge.learn.search.limits import Metric, TuningLimits
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import new_study
from protonn_edge.learn.searched import (
    KIND,
    Among,
    Between,
    SearchSpec,
    SearchTask,
    settings_of_kind,
)
from protonn_edge.model.file import load_model


class Kind(Learner):
    """A kind that draws numbers in a range."""

    n: Any

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:  # noqa: ARG003
        return SearchSpec({"n": cls.n}, ({"n": 2}, {"n": 30}))

    def learn(self, data: object) -> Any:
        raise NotImplementedError


class Other(Kind):
    n = Among((2, 30))


class One(Kind):
    n = Between(1, 9)


class TwoKinds(Metric):
    estimators: ClassVar = {"one": One, "other": Other}


def test_kinds_keep_their_parameters_apart(make_points, monkeypatch):
    points = replace(make_points(), classifier=ANY, metric=TwoKinds("accuracy"), fixed={})
    monkeypatch.setattr(TrialPoints, "refused", {})
    space = SearchSpace(points)
    assert space.starts == [
        {KIND: "one"},
        {KIND: "other"},
        {KIND: "one", "one.n": 2},
        {KIND: "other", "other.n": 2},
        {KIND: "one", "one.n": 9},
        {KIND: "other", "other.n": 30},
    ]
    study = new_study()
    space.begin(study)
    assert [space.draw(study.ask()) for _ in space.starts] == space.starts
    assert settings_of_kind(space.starts[4]) == ("one", {"n": 9})
    assert settings_of_kind({"n": 5}) == (None, {"n": 5})


def test_every_kind_is_begun_with_and_trained(make_points):
    given = make_points()
    points = TrialPoints(given.X, given.y, given.folds, given.board, TuningLimits(), classifier=ANY)
    space = SearchSpace(points)
    starts = space.starts
    expected = [kind for kind in LEARNERS if kind != "basis-images"]  # they are of images
    first = starts[: len(expected)]
    assert [start[KIND] for start in first] == expected
    for start in first:
        assert type(points.untrained(start)) is LEARNERS[start[KIND]]
        assert Objective(space).sketch(start).figures.flash_bytes > 0
    for start in starts:
        kinds = {name.partition(".")[0] for name in start} - {KIND}
        assert kinds <= {start[KIND]}


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_search_begins_with_the_defaults_of_a_kind(make_points, kind):
    points = replace(make_points(), classifier=kind, fixed={"epochs": 7} if kind == "dense" else {})
    study = new_study()
    SearchSpace(points).begin(study)
    settings = SearchSpace(points).draw(study.ask())
    assert settings == {}
    plain = LEARNERS[kind](random_state=0, **points.fixed)
    made = points.untrained(settings)
    assert type(made) is type(plain)
    assert all(getattr(made, name) == getattr(plain, name) for name in plain.parameters)


def test_what_is_fixed_is_so_for_every_kind(make_points):
    given = make_points()
    fixed = {"clip": 0.01, "class_weight": "balanced"}
    points = TrialPoints(
        given.X, given.y, given.folds, given.board, TuningLimits(), fixed, None, ANY
    )
    space = SearchSpace(points)
    assert not any("clip" in name for name in drawn(space, 9))
    for start in space.starts:
        assert points.untrained(start).clip == 0.01


def test_kinds_that_do_not_go_with_the_points_are_left_out(make_points):
    given = make_points()
    fixed = {"normalization": "l2"}
    points = TrialPoints(
        given.X, given.y, given.folds, given.board, TuningLimits(), fixed, None, ANY
    )
    assert 0 < len(points.kinds) <= len(LEARNERS)


@needs_avr_gcc
def test_the_better_kind_is_named(tmp_path: Path):
    digits = load_digits_dataset()
    data, model = tmp_path / "digits.npz", tmp_path / "model.npz"
    np.savez(data, X_train=digits.X_train[::4], y_train=digits.y_train[::4])
    command = ("tune", data, "-o", model, "--classifier", ANY, "--trials", 2, "--folds", 2)
    done = succeed(*command, "--jobs", 1)
    record = run_json(*command, "--jobs", 1)  # the same search, which is over
    best = {kind: each["score"] for kind, each in record["kinds"].items()}
    assert load_model(model).head.kind == max(best, key=best.get) == next(iter(best))
    assert f"({load_model(model).head.kind})" in done.output
    assert "the best of each kind in cross-validation:" in done.output
    _, table = done.output.split("the best of each kind in cross-validation:")
    assert [line.split()[-1] for line in table.splitlines()[4 : 4 + len(best)]] == [*best]
    assert all(each["score_deviation"] >= 0 for each in record["kinds"].values())


def test_kinds_may_be_left_out_unless_no_other_goes_with_the_points(make_points):
    given = make_points()
    every = (given.X, given.y, given.folds, given.board, TuningLimits(), {}, None, ANY)
    kinds = TrialPoints(*every).kinds
    assert TrialPoints(*every, left_out=kinds[:1]).kinds == kinds[1:]
    assert TrialPoints(*every, left_out=kinds).kinds == kinds
