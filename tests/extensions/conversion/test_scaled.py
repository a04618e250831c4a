"""A classifier behind scalers becomes one model of raw features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused_by
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.scaling import from_pipeline
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.model import units_of
from protonn_edge.model.quantization import quantize

X, y = load_wine(return_X_y=True)
SCALERS = {
    "standard": [StandardScaler()],
    "minmax": [MinMaxScaler((-1, 3))],
    "largest": [MaxAbsScaler()],
    "two": [RobustScaler(), StandardScaler(with_std=False)],
}


def classifier(**parameters: Any) -> ProtoNNClassifier:
    return ProtoNNClassifier(**({"epochs": 3, "n_prototypes": 6, "random_state": 0} | parameters))


@pytest.mark.parametrize("name", SCALERS)
@pytest.mark.parametrize("normalization", ["standard", "none"])
def test_the_scores_are_those_of_the_pipeline(name: str, normalization: str) -> None:
    pipeline = make_pipeline(*SCALERS[name], classifier(normalization=normalization)).fit(X, y)
    model = from_pipeline(pipeline).model
    expected = pipeline[-1].to_model().scores(pipeline[:-1].transform(X).astype(np.float32))
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-4, atol=1e-5)


def test_the_integers_are_those_of_scaled_points() -> None:
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, y)
    scaled, raw = quantize(pipeline[-1].to_model()), quantize(from_pipeline(pipeline).model)
    differs = scaled.quantize(pipeline[:-1].transform(X)) != raw.quantize(X)
    assert differs.mean() < 0.002  # of inputs at the edge of two bytes
    inputs = raw.quantize(X)
    assert np.array_equal(raw.scores(inputs), scaled.scores(inputs))


def test_units_follow_from_the_decimals_of_raw_points() -> None:
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, y)
    plain = classifier().fit(X, y).to_model()
    assert np.array_equal(units_of(from_pipeline(pipeline, X).model), units_of(plain))


@pytest.mark.parametrize(
    "steps",
    [
        [PCA(5)],
        [MinMaxScaler(clip=True)],
        [StandardScaler(), "unit"],
        [StandardScaler(), "windows"],
    ],
)
def test_what_no_scaling_can_be_a_part_of_is_refused(steps: list[Any]) -> None:
    special = {
        "unit": classifier(normalization="l2"),
        "windows": classifier(window_shape=(4, 3), features="mean"),
    }
    last = special.get(steps[-1], classifier()) if isinstance(steps[-1], str) else classifier()
    points = X[:, :12]
    pipeline = make_pipeline(*(each for each in steps if not isinstance(each, str)), last)
    with refused_by("extensions.conversion.scaling"):
        from_pipeline(pipeline.fit(points, y))


def test_each_way_names_the_other_where_it_is_wanted() -> None:
    with refused_by("extensions.conversion.estimators"):
        from_sklearn(make_pipeline(StandardScaler(), classifier()).fit(X, y), X)
    with refused_by("extensions.conversion.scaling"):
        from_pipeline(make_pipeline(StandardScaler(), PCA()))
    with refused_by("extensions.conversion.scaling"):
        from_pipeline(classifier())
    with refused_by("extensions.conversion.reading"):
        from_pipeline(make_pipeline(StandardScaler(), classifier()))
