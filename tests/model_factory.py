"""Models for tests: random float models of any size, and one small integer model made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from chains import numbers_of, protonn_chain, protonn_model, replace, tiny_parts

from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.features.kernels.making import drawn_kernels, kernels_of
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.features.window_features.making import window_features
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.features.window_features.windows import FeatureSet
from protonn_edge.kinds.protonn.prototypes.integers import exponential_table
from protonn_edge.model.features import Features
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, scores_and_nearest
from protonn_edge.model.model import Model
from protonn_edge.model.nearness import NearestStage, nearness_of
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.model.watch import DeviceForm, device_forms
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.policy.rejection.rule import IntegerRejection, margins
from protonn_edge.system.errors import InputError


def with_points(features: object, **changes: Any) -> Features:
    """Return the features of points of another form."""
    assert isinstance(features, Features)
    return replace(features, points=replace(features.points, **changes))


def random_points(seed: int, n: int, features: int) -> np.ndarray:
    """Return n points of correlated features with different units, (n, features) float64."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.integers(-2, 3, features)
    return (rng.normal(size=(n, features)) + rng.normal(size=(n, 1))) * units + units


def parts_for(X: np.ndarray, classes: int) -> dict[str, Any]:
    """Return what every model of points X (n, D) has besides its matrices."""
    return {
        "normalizer": Normalizer("standard", X.mean(axis=0), 1.0 / X.std(axis=0)),
        "inputs": InputStatistics(
            lower=X.min(axis=0),
            upper=X.max(axis=0),
            mean=X.mean(axis=0),
            deviation=X.std(axis=0),
            background=X.min(axis=0),
        ),
        "classes": tuple(f"class {label}" for label in range(classes)),
    }


def random_model(
    seed: int = 0,
    *,
    features: int = 12,
    projections: int = 5,
    prototypes: int = 9,
    classes: int = 4,
    gamma_numerator: float = 2.5,
) -> Model:
    """Return a float model whose prototypes are projected points, with gamma by the median."""
    rng = np.random.default_rng(seed)
    X = random_points(seed, max(300, prototypes), features)
    parts = parts_for(X, classes)
    W = rng.normal(size=(projections, features)).astype(np.float32)
    projected = parts["normalizer"].apply(X) @ W.T
    B = projected[:prototypes].T.astype(np.float32)
    distances = np.linalg.norm(projected[:, None, :] - B.T[None, :, :], axis=2)
    return protonn_model(
        projection=W,
        prototypes=B,
        labels=rng.normal(size=(classes, prototypes)).astype(np.float32),
        gamma=gamma_numerator / float(np.median(distances)),
        **parts,
    )


def forms_in_place_of(model: Model) -> list[DeviceForm]:
    """Return the forms in which firmware may have a model's integers, which extensions bring."""
    chain = quantize(model)

    def is_possible(form: DeviceForm) -> bool:
        try:
            return form.of(chain, model) is not chain
        except InputError:
            return False

    return list(filter(is_possible, device_forms().values()))


def random_images(seed: int, n: int, stage: Features) -> np.ndarray:
    """Return n images of bytes with dark and light areas, (n, pixels) uint8."""
    rng = np.random.default_rng(seed)
    height, width = stage.points.shape
    coarse = rng.integers(0, 256, (n, -(-height // 3), -(-width // 3)))
    coarse[rng.random(coarse.shape) < 0.5] = 0
    images = coarse.repeat(3, axis=1)[:, :height].repeat(3, axis=2)[:, :, :width]
    images[rng.random(images.shape) < 0.1] = 255
    images[2:5] = 0  # two diagonals, and a stroke that slants less
    for row, column in np.ndindex(height, width):
        images[2:5, row, column] = np.array([row == column, row == width - 1 - column, 0]) * 255
        images[4:5, row, column] = 200 * (abs(column - width // 2 - (row - height // 2) // 2) < 2)
    return images.reshape(n, -1).astype(np.uint8)


def random_pooling_model(pooling: Features, seed: int = 0, **sizes: float) -> Model:
    """Return a float model of averages of images, else as `random_model` makes one."""
    images = random_images(seed, 300, pooling)
    averages = pooling.apply(images)
    inputs = InputStatistics.of(averages)
    return _model_of_features(pooling, averages, inputs, seed, **sizes)


def random_gradients_model(stage: Features, seed: int = 0, **sizes: float) -> Model:
    """Return a float model of gradients of images, else as `random_model` makes one."""
    images = random_images(seed, 300, stage)
    roots = stage.apply(images)
    inputs = InputStatistics.of(roots).with_one_range()
    return _model_of_features(stage, roots, inputs, seed, **sizes)


def _model_of_features(
    stage: Features, features: np.ndarray, inputs: InputStatistics, seed: int, **sizes: float
) -> Model:
    model = random_model(seed, features=stage.n_outputs, **sizes)
    rows = np.random.default_rng(seed).integers(0, len(features), model.head.n_prototypes)
    return model_near(model, stage, features, inputs, rows, **sizes)


def plain_model() -> Model:
    """Return a float model of exact binary fractions, the same on every machine."""
    i = np.arange(8 * 6).reshape(6, 8)
    lower = np.arange(8) / 4 - 1
    return protonn_model(
        projection=((i * 7 % 17 - 8) / 16).astype(np.float32),
        prototypes=((np.arange(6 * 5).reshape(6, 5) * 11 % 23 - 11) / 8).astype(np.float32),
        labels=((np.arange(3 * 5).reshape(3, 5) * 5 % 13 - 6) / 4).astype(np.float32),
        gamma=0.5,
        normalizer=Normalizer("standard", lower + 1, np.full(8, 0.5)),
        inputs=InputStatistics(lower, lower + 2, lower + 0.75, np.full(8, 0.5), lower),
        classes=("rest", "left", "right"),
    )


def random_inputs(seed: int, n: int, model: IntegerChain) -> np.ndarray:
    """Return n quantized inputs, (n, D) uint8: random ones, sparse ones, all zeros, all maxima."""
    rng = np.random.default_rng(seed)
    Q = rng.integers(0, model.quantizer.maximum + 1, (n, model.n_features), dtype=np.uint8)
    Q[rng.random(Q.shape) < 0.3] = 0
    Q[0] = 0
    Q[-1] = model.quantizer.maximum
    return Q


def tiny_integer_model() -> IntegerChain:
    """Return an integer model of 6 features, 3 projections, 4 prototypes and 3 classes."""
    return protonn_chain(
        projection=np.array(
            [[-60, 35, 0, 7, -128, 127], [1, 2, -3, 4, -5, 6], [0, 0, 90, -90, 40, -40]], np.int8
        ),
        bias=np.array([600, -158, 0], np.int64),
        accumulator_bits=16,
        multiplier=1600,
        offset=np.array([32768, -960000, 4000000], np.int64),
        prototypes=np.array([[-120, 0, 60, 127], [12, -33, 5, 0], [100, -100, 1, 64]], np.int8),
        distance_shift=4,
        table=exponential_table(),
        labels=np.array([[127, -3, 0, 9], [-20, 110, 5, -9], [0, 1, 127, -127]], np.int8),
        **{**tiny_parts(63), "score_scale": 1 / 32385},
    )


def sharp(model: IntegerChain, factor: float) -> IntegerChain:
    """Return the model with the confidence of a softmax of its scores times a factor."""
    last = model.own_stages[-1]
    new = last.n_new_classes if isinstance(last, NearestStage) else 0
    return with_rules(model, Confidence.of(factor * model.score_scale, new))


def tiny_packed_model() -> IntegerChain:
    """Return the tiny model with weights of 4 bits, which knows how sure it is."""
    model = tiny_integer_model()
    weights = np.rint(numbers_of(model)["projection"] / 18).astype(np.int8)
    weights[1] = numbers_of(model)["projection"][1]
    bias = numbers_of(model)["bias"] // 18
    return sharp(replace(model, projection=weights, bias=bias, multiplier=28_800), 8.0)


def tiny_pooling_model() -> IntegerChain:
    """Return the tiny model for 2x3 averages of the 3x4 pixels in the middle of 5x6."""
    return replace(
        tiny_integer_model(),
        inputs=InputQuantizer(zero=np.full(6, 0.5), step=np.full(6, 0.25), maximum=63),
        features=average_pooling((5, 6), (3, 4), (2, 3)),
    )


def tiny_deskew_model() -> IntegerChain:
    """Return the same one whose images are deskewed first."""
    model = tiny_pooling_model()
    return replace(model, features=average_pooling((5, 6), (3, 4), (2, 3), deskew=True))


def tiny_gradients_model() -> IntegerChain:
    """Return the tiny model with 8 inputs: 4 directions in two cells of the middle of 5x8."""
    model = tiny_integer_model()
    return replace(
        model,
        inputs=InputQuantizer(zero=np.zeros(8), step=np.full(8, 0.25), maximum=63),
        projection=numbers_of(model)["projection"][:, [0, 1, 2, 3, 4, 5, 3, 2]],
        features=gradient_features((5, 8), (5, 7), (1, 2), 4),
    )


def with_large_labels(model: IntegerChain) -> IntegerChain:
    """Return a model of prototypes with scores of 32 bits."""
    labels = np.sign(numbers_of(model)["labels"]) * np.int8(127)
    model = replace(model, labels=labels)
    assert model.own_stages[-1].output.bits == 32
    return model


def rejecting_some(model: IntegerChain, Q: np.ndarray, which: int) -> IntegerChain:
    """Return the model with thresholds that some of the points, if they differ, are below.

    A model without RBFs has no threshold for them.
    """
    (scores, nearest), low_high = scores_and_nearest(model, Q), model.own_stages[-1].output.ends
    middle = [
        float(np.quantile(values, 0.4)) for values in (scores.max(axis=1), nearest, margins(scores))
    ]
    rbf = nearness_of(model.own_stages[-1]).maximum
    limits = (max(1, low_high[1]), rbf, max(1, low_high[1] - low_high[0]))
    at_least = [
        int(np.clip(round(value), min(1, limit), limit)) if which >> place & 1 else 0
        for place, (value, limit) in enumerate(zip(middle, limits, strict=True))
    ]
    return with_rules(model, IntegerRejection(*at_least)) if any(at_least) else model


def scaled(features: Features, zero: object, step: object) -> Features:
    """Return the features of samples of other scales, one or one per channel."""
    numbers = (np.atleast_1d(np.array(each, np.float64)) for each in (zero, step))
    return with_points(features, scale=InputQuantizer(*numbers, 255))


def random_windows(seed: int, n: int, features: Features) -> np.ndarray:
    """Return n windows of bytes, (n, samples) uint8: waves with noise, and extreme ones."""
    rng = np.random.default_rng(seed)
    window, channels = features.points.shape
    t = np.arange(window)[:, None]
    shape = (n, 1, channels)
    waves = np.sin(2 * np.pi * t / rng.uniform(2, 60, shape) + rng.uniform(0, 6, shape))
    signals = rng.uniform(0, 255, shape) + rng.uniform(0, 90, shape) * waves
    signals += rng.normal(0, 4, (n, window, channels))
    Q = np.clip(signals, 0, 255).astype(np.uint8)
    extremes = [
        np.zeros_like(t),
        np.full_like(t, 255),
        255 * (t % 2),
        255 * (1 - t % 2),
        255 * (t < window // 2),
        255 * (t // 2 % 2),
        t * 255 // max(1, window - 1),
    ]
    for row, extreme in enumerate(extremes[:n]):
        Q[row] = extreme
    if n > len(extremes):
        Q[-1] = rng.integers(0, 2, Q[-1].shape) * 255
    return Q.reshape(n, -1)


def random_window_model(stage: Features, seed: int = 0, **sizes: float) -> Model:
    """Return a float model of features of windows, else as `random_model` makes one."""
    model = random_model(seed, features=stage.n_outputs, **sizes)
    windows = random_windows(seed, 100, stage).reshape(-1, stage.points.shape[1])
    windows = stage.points.scale.zero + stage.points.scale.step * windows
    features = stage.apply(windows.reshape(100, -1))
    inputs = stage.ranged(InputStatistics.of(features))
    return model_near(model, stage, features, inputs, **sizes)


def model_near(
    model: Model,
    stage: Features,
    features: np.ndarray,
    inputs: InputStatistics,
    rows: np.ndarray | None = None,
    gamma_numerator: float = 2.5,
    **_: float,
) -> Model:
    """Return a model whose prototypes are some of the features (n, D), by default the first."""
    scale = 1.0 / np.maximum(features.std(axis=0), 1.0)
    normalizer = Normalizer("standard", features.mean(axis=0), scale)
    projected = normalizer.apply(features) @ model.head.projection.T.astype(np.float64)
    first = np.arange(model.head.n_prototypes) % len(projected)
    chosen = projected[first if rows is None else rows]
    distances = np.linalg.norm(projected[:, None] - chosen[None, :, :], axis=2)
    gamma = gamma_numerator / max(1e-9, float(np.median(distances)))
    widest = 25.0 / max(1e-9, float(np.ptp(chosen, axis=0).max()))  # that the integers hold
    return replace(
        model,
        prototypes=chosen.T.astype(np.float32),
        gamma=min(gamma, widest),
        normalizer=normalizer,
        inputs=inputs,
        features=stage,
    )


def window_features_of(text: str, window: int = 32, channels: int = 2) -> Features:
    """Return the stage of some features whose samples are bytes."""
    return window_features(
        FeatureSet.of(text),
        (window, channels),
        ChannelScale((0.0,) * channels, (1.0,) * channels, channels),
    )


def drawn_kernels_of(window: int, channels: int, n: int) -> Features:
    """Return n kernels that are drawn for random windows, whose samples are bytes."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (30, window * channels)).astype(np.uint8)
    bank = drawn_kernels(x, (window, channels), n, rng)
    scale = ChannelScale((0.0,) * channels, (1.0,) * channels, channels)
    return kernels_of(x, (window, channels), bank, scale)


def tiny_windows_model() -> IntegerChain:
    """Return the tiny model for six features of windows of 8 samples of one channel."""
    return replace(
        tiny_integer_model(),
        features=window_features_of("mean,deviation,max,change,bands:2", 8, 1),
    )
