"""What is learned from normal points alone: how far from them a point is unknown."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.model import raw_ends
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.system.errors import InputError

RNG = np.random.default_rng(0)
FEATURES = 6
RATE = 0.1


def normal_points(n: int) -> np.ndarray:
    """Return points in two clusters."""
    centres = np.where(RNG.random((n, 1)) < 0.5, -4.0, 4.0)
    return (centres + RNG.normal(0, 1, (n, FEATURES))).astype(np.float32)


NORMAL, HELD_OUT = normal_points(1000), normal_points(1000)
BETWEEN = RNG.normal(0, 0.5, (200, FEATURES)).astype(np.float32)


@pytest.fixture(scope="module")
def classifier() -> ProtoNNClassifier:
    fitted = ProtoNNClassifier(one_class=True, n_prototypes=8, random_state=0).fit(NORMAL)
    return calibrate_rejection(fitted, NORMAL, np.zeros(len(NORMAL)), rate=RATE, by=["distance"])


def share_rejected(classifier: ProtoNNClassifier, X: np.ndarray) -> float:
    integers = quantize(classifier.to_model())
    return float(np.mean(integers.predict(integers.quantize(X)) == NO_CLASS))


def test_false_alarms_are_as_asked(classifier: ProtoNNClassifier) -> None:
    error = np.sqrt(2 * RATE * (1 - RATE) / len(NORMAL))  # of the threshold, and of what is tested
    assert abs(share_rejected(classifier, HELD_OUT) - RATE) < 3 * error


def test_points_between_clusters_are_not_normal(classifier: ProtoNNClassifier) -> None:
    assert share_rejected(classifier, BETWEEN) == 1


def test_a_device_sees_a_bit_beyond_the_normal_range(classifier: ProtoNNClassifier) -> None:
    model = classifier.to_model()
    assert np.allclose(
        np.ptp([model.inputs.lower, model.inputs.upper], axis=0), 2 * np.ptp(NORMAL, axis=0)
    )
    beyond = np.full((1, FEATURES), 1.4 * NORMAL.max(), dtype=np.float32)
    assert share_rejected(classifier, beyond) == 1


def test_predictions_are_the_normal_class_or_unknown(classifier: ProtoNNClassifier) -> None:
    assert classifier.classes_.tolist() == ["normal"]
    assert set(classifier.predict(HELD_OUT, unknown=-1).tolist()) == {"normal", -1}
    assert set(classifier.predict(BETWEEN).tolist()) == {"normal"}
    assert classifier.to_model().predict(BETWEEN).tolist() == [NO_CLASS] * len(BETWEEN)


def test_scores_decide_too() -> None:
    fitted = ProtoNNClassifier(one_class=True, n_prototypes=8, random_state=0)
    fitted.fit(NORMAL, np.full(len(NORMAL), "fine"))
    calibrate_rejection(fitted, HELD_OUT, rate=RATE)
    assert fitted.classes_.tolist() == ["fine"]
    assert share_rejected(fitted, BETWEEN) == 1
    with pytest.raises(InputError, match="one class has no margin"):
        calibrate_rejection(fitted, HELD_OUT, rate=RATE, by=["margin"])


def test_several_classes_are_refused() -> None:
    y = np.arange(len(NORMAL)) % 3
    with pytest.raises(InputError, match="has 3 classes, but one_class is set"):
        ProtoNNClassifier(one_class=True).fit(NORMAL, y)


def test_windows_of_samples_reach_beyond_the_normal_range() -> None:
    settings = {"features": "mean,deviation,max", "window_shape": (FEATURES // 2, 2)}
    model = ProtoNNClassifier(one_class=True, random_state=0, **settings).fit(NORMAL).to_model()
    lower, upper = raw_ends(model)
    samples = NORMAL.reshape(-1, 2)
    assert (lower < samples.min(axis=0) - 0.4 * np.ptp(samples, axis=0)).all()
    assert (upper > samples.max(axis=0) + 0.4 * np.ptp(samples, axis=0)).all()
