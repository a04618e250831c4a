"""Features that jump do not decide on the scale of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.quantization import quantize

_SMALL: dict[str, Any] = {
    "n_projections": 2,
    "n_prototypes": 4,
    "epochs": 30,
    "random_state": 0,
}


def _clusters_with_jumps(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes apart by 2 along both features, and one value in a hundred at 1,000."""
    generator = np.random.default_rng(seed)
    y = np.arange(600) % 2
    X = generator.normal(size=(600, 2)) * 0.4 + 2.0 * y[:, None]
    X[generator.random(600) < 0.01] = 1_000.0
    return X, y


def test_clipping_saves_the_accuracy_in_integers_from_outliers() -> None:
    X, y = _clusters_with_jumps(0)
    X_test, y_test = _clusters_with_jumps(1)
    accuracies = []
    for clip in (0.0, 0.02):
        model = ProtoNNClassifier(clip=clip, **_SMALL).fit(X, y).model_
        integers = quantize(model)
        accuracies.append(np.mean(integers.predict(integers.quantize(X_test)) == y_test))
    assert accuracies[1] > 0.95
    assert accuracies[1] > accuracies[0] + 0.05


def test_the_model_clips_what_training_clipped() -> None:
    X, y = _clusters_with_jumps(0)
    model = ProtoNNClassifier(clip=0.02, **_SMALL).fit(X, y).model_
    lower, upper = np.quantile(X, [0.02, 0.98], axis=0, method="inverted_cdf")

    assert model.clipped
    assert np.allclose(model.inputs.lower, lower, rtol=1e-6)
    assert np.allclose(model.inputs.upper, upper, rtol=1e-6)
    assert np.allclose(model.scores([[1e6, 1e6]]), model.scores([upper]), rtol=1e-5)


def test_a_feature_whose_rare_values_are_all_it_tells_keeps_its_range() -> None:
    X, y = _clusters_with_jumps(0)
    rare = (np.arange(600) % 100 == 0).astype(float)
    model = ProtoNNClassifier(clip=0.02, **_SMALL).fit(np.column_stack([X, rare]), y).model_
    assert (model.inputs.lower[2], model.inputs.upper[2]) == (0.0, 1.0)


def test_training_goes_on_with_the_ends_of_the_model_it_starts_from() -> None:
    X, y = _clusters_with_jumps(0)
    first = ProtoNNClassifier(clip=0.02, **_SMALL).fit(X, y).model_
    second = ProtoNNClassifier(initial_model=first, **_SMALL).fit(X, y).model_
    assert second.clipped
    assert np.allclose(second.inputs.upper, first.inputs.upper, rtol=1e-6)
