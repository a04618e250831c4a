"""The transformer follows scikit-learn's conventions, and gives the model's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from refusals import refused_by
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from protonn_edge import WindowFeatures


@parametrize_with_checks([WindowFeatures(features="mean,min,max")])
def test_transformer_keeps_the_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def test_features_have_names() -> None:
    X = np.random.default_rng(0).normal(size=(5, 24))
    transformer = WindowFeatures(features="mean,bands:2", channels=3, rate=50.0).fit(X)
    assert transformer.transform(X).shape == (5, 9)
    assert transformer.get_feature_names_out()[:3].tolist() == [
        "channel0_mean",
        "channel0_band1",
        "channel0_band2",
    ]
    assert transformer.stage_.points.rate == 50.0


def test_a_pipeline_of_scikit_learn_takes_it() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 64)) * (1 + 3 * y[:, None])
    fitted = make_pipeline(WindowFeatures(), StandardScaler(), LogisticRegression()).fit(X, y)
    assert fitted.score(X, y) == 1.0


def test_samples_that_do_not_fill_a_channel_are_refused() -> None:
    with refused_by("features.window_features.scale"):
        WindowFeatures(channels=3).fit(np.zeros((2, 10)))
