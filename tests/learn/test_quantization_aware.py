"""What training sees of quantization is what the integer model does."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of
from model_factory import random_model
from trainings import DIGITS, fit

from protonn_edge.kinds.protonn.prototypes.integers import distance_step, tabulated_rbf
from protonn_edge.kinds.protonn.quantize import dequantize
from protonn_edge.kinds.protonn.quantize import quantize as quantize_protonn
from protonn_edge.kinds.protonn.train.fitting import parameters_of
from protonn_edge.kinds.protonn.train.rounding import QuantizationAware
from protonn_edge.learn.objective import Parameters, squared_distances
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics


def trained_model(**settings: object) -> Model:
    return fit(**{"epochs": 20, **settings}).to_model()


def rounding_of(model: Model) -> tuple[QuantizationAware, Parameters]:
    rounding = QuantizationAware(
        model.head.gamma, model.normalizer, model.inputs, model.head.projection_bits
    )
    return rounding, parameters_of(model, scores_are_logits=False)


@pytest.mark.parametrize(
    "settings",
    [
        {"normalization": "standard"},
        {"normalization": "none"},
        {"projection_bits": 4},
    ],
)
def test_scores_in_training_are_the_integer_models(settings: dict[str, object]) -> None:
    model = trained_model(**settings)
    rounding, parameters = rounding_of(model)
    assert rounding.choose_widths(parameters)
    rounded = rounding.rounded(parameters)
    assert rounded is not None
    points = rounding.rounded_points(model.normalizer.apply(DIGITS.X_test).astype(np.float32))
    squares = squared_distances(rounded, points @ rounded.projection.T)
    scores = tabulated_rbf(squares) @ rounded.labels.T
    integers = quantize(model)
    expected = integers.scores(integers.quantize(DIGITS.X_test)) * integers.score_scale
    assert np.abs(scores - expected).max() < 0.06 * np.abs(expected).max()
    assert np.mean(scores.argmax(axis=1) == expected.argmax(axis=1)) > 0.98


@pytest.mark.parametrize("seed", range(6))
def test_rounded_parameters_are_those_of_the_quantizer(seed: int) -> None:
    model = random_model(seed)
    rounding, parameters = rounding_of(model)
    assert rounding.choose_widths(parameters)
    rounded = rounding.rounded(parameters)
    assert rounded is not None
    integers = quantize_protonn(model, in_order=True)
    floats = dequantize(integers)
    scale = np.where(model.normalizer.scale == 0, np.inf, model.normalizer.scale)
    W = floats.projection / scale
    np.testing.assert_allclose(rounded.projection, W, atol=1e-5 * np.abs(W).max())
    offset = floats.bias + floats.projection @ model.normalizer.offset
    step = distance_step(numbers_of(integers)["distance_shift"])
    B = floats.prototypes - offset[:, None]
    np.testing.assert_allclose(rounded.prototypes, B, atol=0.01 * step)
    np.testing.assert_allclose(rounded.labels, floats.labels, atol=1e-6)


def test_zeros_stay_zeros() -> None:
    model = trained_model(sparsity_projection=0.3, epochs=5)
    rounding, parameters = rounding_of(model)
    assert rounding.choose_widths(parameters)
    rounded = rounding.rounded(parameters)
    assert rounded is not None
    assert not rounded.projection[parameters.projection == 0].any()


def test_twice_the_weights_of_4_bits_are_as_small_and_better() -> None:
    plain, packed = (
        trained_model(n_projections=d, projection_bits=bits, epochs=60)
        for d, bits in ((3, 8), (6, 4))
    )
    rights = []
    for model in (plain, packed):
        integers = quantize(model)
        rights.append(np.mean(integers.predict(integers.quantize(DIGITS.X_test)) == DIGITS.y_test))
    assert quantize(packed).model_bytes - quantize(plain).model_bytes == 3 * 30  # of B alone
    assert rights[1] > rights[0] + 0.02


def test_a_model_of_4_bits_stays_one() -> None:
    model = trained_model(projection_bits=4, epochs=2)
    assert model.head.projection_bits == 4
    again = trained_model(initial_model=model, epochs=2)
    assert again.head.projection_bits == 4


def test_what_no_integer_model_holds_is_trained_as_it_is() -> None:
    model = trained_model(epochs=1)
    rounding, (V, C, Z, sharpness) = rounding_of(model)
    far = Parameters(V, C + 1e6 * np.arange(30, dtype=np.float32), Z, sharpness)
    assert not rounding.choose_widths(far)
    assert rounding.choose_widths(Parameters(V, C, Z, sharpness))
    assert rounding.rounded(far) is None


def test_a_feature_that_never_changes_does_no_harm() -> None:
    X = DIGITS.X_train.copy()
    X[:, 0] = 3.0
    model = trained_model(epochs=1)
    rounding = QuantizationAware(model.head.gamma, model.normalizer, InputStatistics.of(X))
    _, parameters = rounding_of(model)
    assert rounding.choose_widths(parameters)
    assert np.isfinite(rounding.rounded_points(X[:10])).all()
