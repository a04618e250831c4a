"""What comes before a classifier is searched where images are given and no features are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from learn.tuning.trials import drawn
from optuna.distributions import CategoricalDistribution

from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.learn.search.choice import candidates
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import new_study

IMAGES = {"image_shape": (8, 8)}
WITH_FEATURES = [kind for kind in CLASSIFIERS if kind != "basis-images"]  # they are features
TRIED = {
    "none": 64,
    "gradients:4x4": 128,
    "gradients:5x5": 200,
    "gradients:3x3": 72,
    "pool:4x4": 16,
    "pool:3x3": 9,
}


def with_fixed(points: TrialPoints, classifier: str = "protonn", **fixed: Any) -> TrialPoints:
    return replace(points, fixed=fixed, classifier=classifier)


def some_of(points: TrialPoints) -> TrialPoints:
    """Return a quarter of the points, which is enough to know of a size."""
    return replace(points, X=points.X[::4], y=points.y[::4], folds=points.folds[::4])


@pytest.mark.parametrize("classifier", WITH_FEATURES)
def test_images_are_tried_with_every_kind_of_feature(make_points, classifier):
    points = with_fixed(make_points(), classifier, **IMAGES)
    assert {name: each.n_inputs for name, each in points.alternatives.items()} == TRIED
    assert list(SearchSpace(points).specs[classifier]) == list(TRIED)
    trial = new_study().ask()
    SearchSpace(points).draw(trial)
    assert trial.distributions["feature_stage"] == CategoricalDistribution(tuple(TRIED))


@pytest.mark.parametrize("classifier", WITH_FEATURES)
def test_a_search_begins_with_each_of_them_in_sizes_of_its_own(make_points, classifier):
    points = some_of(with_fixed(make_points(), classifier, **IMAGES))
    space = SearchSpace(points)
    starts = space.starts
    assert {start["feature_stage"] for start in starts[: len(TRIED)]} == set(TRIED)
    for start in starts:
        name = start["feature_stage"]
        model = points.untrained(start)
        settings = points.alternatives[name].settings
        assert all(getattr(model, key) == value for key, value in settings.items())
        assert start.get("n_projections", 1) <= TRIED[name]
    for start in starts[: len(TRIED)]:
        assert Objective(space).sketch(start).figures.flash_bytes > 0


@pytest.mark.parametrize(
    "fixed",
    [
        {},
        {**IMAGES, "features": "pool:4x4"},
        {**IMAGES, "features": "gradients:4x4/4"},
        {"features": "mean,min"},
    ],
)
def test_nothing_is_drawn_where_features_are_given_or_no_images(make_points, fixed):
    space = SearchSpace(with_fixed(make_points(), **fixed))
    assert space.points.alternatives == {}
    assert "feature_stage" not in drawn(space)
    assert not any("feature_stage" in start for start in space.starts)


def test_alternatives_that_do_not_go_with_what_is_fixed_are_left_out(make_points):
    deskewed = with_fixed(make_points(), **IMAGES, features="deskew")
    assert set(deskewed.alternatives) == set(TRIED) - {"none"}
    of_pixels = deskewed.alternatives["pool:4x4"].settings
    assert of_pixels["features"] == "deskew,pool:4x4"
    clipped = with_fixed(make_points(), **IMAGES, clip=0.02)
    assert clipped.alternatives == {}
    large = replace(
        with_fixed(make_points(), image_shape=(2, 40)), X=np.zeros((60, 80), np.float32)
    )
    assert set(large.alternatives) == {"none", "pool:1x20", "pool:1x14"}


def test_what_is_drawn_goes_with_every_alternative(make_points):
    points = with_fixed(make_points(), **IMAGES)
    for name in TRIED:
        clipped = {"feature_stage": name, "clip": 0.02}
        points.untrained({**clipped, "epochs": 1}).fit(points.X[:100], points.y[:100])


def test_a_search_trains_what_it_drew(make_points, search, tmp_path):
    points = with_fixed(
        make_points(), **IMAGES, epochs=4, init_projection="pca", quantization_aware=False
    )
    space = SearchSpace(points)
    found = search(Objective(space), tmp_path / "s", trials=4)
    complete = candidates(found.records)
    assert {each.settings["feature_stage"] for each in complete} >= {"gradients:4x4", "none"}
    assert "feature_stage" in {name for names in space.columns.values() for name in names}
