"""The optimizer: it gets better, keeps its constraints, reports, and backs off."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace

from protonn_edge.extensions.research.kinds.paper.train.classifier import PaperProtoNNClassifier
from protonn_edge.extensions.research.kinds.paper.train.losses import LOSSES
from protonn_edge.kinds.protonn.train.joint import minimize
from protonn_edge.kinds.protonn.train.rounding import QuantizationAware
from protonn_edge.learn.initialization import initial_parameters
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.objective import Parameters, objective
from protonn_edge.learn.points import Points
from protonn_edge.learn.progress import EpochReport
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.system.errors import InputError

SETTINGS = PaperProtoNNClassifier(
    epochs=20, batch_size=32, learning_rate=0.01, input_noise=0.1, normalization="none"
)


def training_set(X: np.ndarray, y: np.ndarray) -> TrainingSet:
    n_classes = int(y.max()) + 1
    return TrainingSet.of(SETTINGS, Points(X, y), ClassLabels(), n_classes, seed=0)


def start() -> tuple[Parameters, TrainingSet]:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = (rng.normal(size=(3, 8))[y] * 1.2 + rng.normal(size=(120, 8))).astype(np.float32)
    parameters, _ = initial_parameters(
        X, y, n_projections=4, n_prototypes=6, gamma_numerator=1.5, generator=rng
    )
    return parameters, training_set(X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_falls(loss: str) -> None:
    history = minimize(*start(), replace(SETTINGS, loss=loss)).history
    assert history[-1].objective < history[0].objective
    assert history[-1].accuracy > 0.85


def test_the_start_is_left_as_it_was() -> None:
    parameters, data = start()
    before = parameters.copy()
    minimize(parameters, data, SETTINGS)
    for matrix, original in zip(parameters, before, strict=True):
        assert np.array_equal(matrix, original)


def test_the_callback_sees_every_epoch() -> None:
    seen: list[EpochReport] = []
    trained = minimize(*start(), replace(SETTINGS, epochs=3, callback=seen.append))
    assert [(report.epoch, report.epochs) for report in seen] == [(1, 3), (2, 3), (3, 3)]
    assert tuple(seen) == trained.history


@pytest.mark.parametrize("epochs", [1, 2, 20])
def test_shares_hold_at_the_end_however_short_the_training(epochs: int) -> None:
    shares = {"projection": 0.3, "prototypes": 0.5, "labels": 0.4}
    sparsities = {f"sparsity_{name}": share for name, share in shares.items()}
    settings = replace(SETTINGS, epochs=epochs, **sparsities)
    V, C, Z, _ = minimize(*start(), settings).parameters
    assert np.count_nonzero(V) == 9  # of 32
    assert np.count_nonzero(C) == 12  # of 24
    assert np.count_nonzero(Z) <= 7  # of 18


def test_a_learning_rate_that_is_too_large_is_lowered() -> None:
    trained = minimize(*start(), replace(SETTINGS, learning_rate=5.0))
    assert trained.learning_rate < 5.0
    assert trained.history[-1].accuracy > 0.8


def test_a_learning_rate_that_is_far_too_large_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="diverges at the learning rate 1e\\+06") as caught:
        minimize(*start(), replace(SETTINGS, learning_rate=1e6))
    assert "\n" not in str(caught.value)


def test_constant_features_keep_no_weight() -> None:
    _, data = start()
    X, y = data.points.X, data.points.y
    X[:, 2] = 0.0
    parameters, _ = initial_parameters(
        X,
        y,
        n_projections=4,
        n_prototypes=6,
        gamma_numerator=1.5,
        generator=np.random.default_rng(0),
    )
    assert not minimize(parameters, data, SETTINGS).parameters.projection[:, 2].any()


class CoarseRounding(QuantizationAware):
    """Rounds far more coarsely than the quantizer, so that it shows on a small problem."""

    def __init__(self, fits: bool = True) -> None:
        self.fits = fits

    def choose_widths(self, parameters: Parameters) -> bool:
        return self.fits and len(parameters.labels) == 3

    def rounded_points(self, X: np.ndarray) -> np.ndarray:
        return np.round(X)

    def rounded(self, parameters: Parameters) -> Parameters:
        V, C, Z, sharpness = parameters
        return Parameters(np.round(V * 2) / 2, np.round(C * 2) / 2, np.round(Z * 2) / 2, sharpness)

    def with_its_labels(self, parameters: Parameters) -> Parameters:
        return parameters


def test_what_is_minimized_in_the_end_is_the_rounded_objective() -> None:
    rounding = CoarseRounding()

    def rounded_objective(quantization: QuantizationAware | None) -> float:
        parameters, data = start()
        settings = replace(SETTINGS, epochs=60)
        trained = minimize(parameters, data, settings, quantization=quantization)
        rounded = rounding.rounded(trained.parameters)
        return objective(rounded, np.round(data.points.X), data.targets(), LOSSES["cross_entropy"])

    assert rounded_objective(rounding) < 0.8 * rounded_objective(None)


def test_rounding_that_does_not_fit_is_left_out() -> None:
    rounded, unrounded = (
        minimize(*start(), SETTINGS, quantization=CoarseRounding(fits)) for fits in (True, False)
    )
    half = SETTINGS.epochs // 2
    assert unrounded.history[: half - 1] == rounded.history[: half - 1]
    assert unrounded.history[half:] != rounded.history[half:]


def test_prototypes_that_a_device_cannot_see_have_no_vote_from_the_first_step_on() -> None:
    X = np.random.default_rng(0).normal(scale=0.1, size=(60, 2)).astype(np.float32)
    data = training_set(X, (X[:, 0] > 0).astype(np.int64))
    here_and_beyond = np.array([[0.0, 2.5], [0.0, 0.0]], dtype=np.float32)  # exp(-6.25) < 1/128
    alike = np.ones((2, 2), dtype=np.float32)
    parameters = Parameters(
        np.eye(2, dtype=np.float32), here_and_beyond, alike, np.zeros(1, np.float32)
    )
    settings = replace(SETTINGS, epochs=1, input_noise=0.0)
    for quantization, seen in ((CoarseRounding(fits=False), False), (None, True)):
        trained = minimize(parameters, data, settings, quantization=quantization)
        assert np.any(trained.parameters.labels[:, 1] != 1.0) == seen
        assert (trained.cutoff == 0.0) == seen


def test_where_points_without_weight_lie_does_not_matter() -> None:
    parameters, data = start()
    points = data.points
    absent = points.y == 0
    weighted = replace(points, weight=np.where(absent, np.float32(0), np.float32(1.5)))
    moved = replace(weighted, X=np.where(absent[:, None], -points.X, points.X))
    weighted, moved = (replace(data, points=each) for each in (weighted, moved))
    first, other = (minimize(parameters, d, SETTINGS) for d in (weighted, moved))
    for matrix, same in zip(first.parameters, other.parameters, strict=True):
        np.testing.assert_allclose(matrix, same, rtol=1e-3, atol=1e-5)
