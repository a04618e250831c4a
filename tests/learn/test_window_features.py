"""Training on features of windows: the estimator takes raw windows and learns from the features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from protonn_edge import WindowFeatures
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError


def recorded(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return windows of 32 samples of two channels, (n, 64), of three kinds of movement."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    t = np.arange(32)[:, None] + rng.uniform(0, 30, (n, 1, 2))
    fast = np.sin(t * np.where(y == 0, 0.2, np.where(y == 1, 1.0, 2.5))[:, None, None])
    X = 3.0 + (0.5 + (y == 2))[:, None, None] * fast + rng.normal(0, 0.1, (n, 32, 2))
    return X.reshape(n, -1), y


X, Y = recorded()
FEATURES = "mean,deviation,crossings,bands:3"


def classifier(**settings: Any) -> ProtoNNClassifier:
    chosen = {"n_projections": 5, "n_prototypes": 9, "epochs": 30, "random_state": 0}
    windows = {"features": FEATURES, "window_shape": (32, 2)}
    return ProtoNNClassifier(**(chosen | windows | settings))


def test_it_learns_from_the_transformers_features_alone() -> None:
    features = WindowFeatures(features=FEATURES, channels=2).fit(X)
    plain = classifier(features=None, window_shape=None).fit(features.transform(X), Y)
    windows = classifier().fit(X, Y)
    for name in ("lower", "upper", "mean", "deviation"):
        of_windows = getattr(windows.to_model().inputs, name)
        assert of_windows == pytest.approx(getattr(plain.to_model().inputs, name))
    new, labels = recorded(seed=1)  # the points' order differs, so the models may, a little
    accuracy = plain.score(features.transform(new), labels)
    assert windows.score(new, labels) == pytest.approx(accuracy, abs=0.02)


def test_the_integers_make_the_transformers_features() -> None:
    model = quantize(classifier().fit(X, Y).to_model())
    features = WindowFeatures(features=FEATURES, channels=2).fit(X).transform(X)
    assert model.features is not None
    assert np.array_equal(run_through(model.features.stages, model.quantize(X)), features)


def test_outliers_are_those_of_the_features() -> None:
    model = classifier(clip=0.1).fit(X, Y).to_model()
    whole = classifier().fit(X, Y).to_model()
    assert model.clipped
    assert (np.ptp([model.inputs.lower, model.inputs.upper], axis=0) > 0).all()
    assert (model.inputs.upper < whole.inputs.upper).any()


def test_training_goes_on_with_the_models_own_features() -> None:
    model = classifier(epochs=5).fit(X, Y).to_model()
    further = ProtoNNClassifier(initial_model=model, epochs=2, random_state=0).fit(X, Y)
    assert further.to_model().features == model.features
    with pytest.raises(InputError, match="but the model to start from"):
        classifier(initial_model=model).fit(X, Y)
