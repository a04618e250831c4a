"""Integer models of every shape that generated code can have and an Arduino Uno can hold.

Sizes are drawn at the ends of counters and of loops as often as in between. The numbers need not
make sense; prototypes are where points are projected, so that many of them are near some points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from chains import numbers_of, protonn_chain, replace
from plans import of_weights_for

from protonn_edge.chips.cores import UNO_CORE
from protonn_edge.codegen.kernels.kernel import kernels_of
from protonn_edge.codegen.plan import Plan, plan_with
from protonn_edge.codegen.planner import Limits
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.features.window_features.making import window_features
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.features.window_features.windows import KINDS, FeatureSet
from protonn_edge.kinds.projection.integers import (
    COORDINATE_MAXIMUM,
    COORDINATE_MINIMUM,
    OFFSET_STEP,
    REQUANTIZE_SHIFT,
)
from protonn_edge.kinds.protonn.prototypes.integers import exponential_table
from protonn_edge.model.features import Features
from protonn_edge.model.head import channels_of
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, named_stages, own_inputs
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.rejection import STATISTICS
from protonn_edge.policy.rejection.rule import IntegerRejection
from protonn_edge.system.errors import InputError

_FEATURES = (1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 254, 255, 256, 257, 300, 400)
_PROJECTIONS = (1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 17, 18, 19, 20, 21, 33)
_MOST_PROJECTIONS = (7, 12, 22, 40)  # planning takes seconds where there are many
_CLASSES = (1, 2, 3, 4, 5, 9, 10, 11, 26, 63, 64, 65, 72, 127, 128, 129, 254, 255)
_PROTOTYPES = (1, 2, 3, 9, 10, 11, 39, 40, 41, 127, 128, 160, 255, 256, 257, 511, 512)
_DRAWS = 500

Rng = np.random.Generator


@dataclass(frozen=True)
class Shape:
    """The sizes of a model, its projection's inputs among them, and what makes these."""

    d: int
    m: int
    classes: int
    inputs: int
    before: Features | None = None


def random_case(rng: Rng) -> tuple[IntegerChain, Plan]:
    """Return a model with one of its plans that an Uno holds, as far as the plan can tell."""
    for _ in range(_DRAWS):
        shape = _random_shape(rng)
        if _parameters(shape) > 29_000:
            continue
        try:
            model = random_model_of(rng, shape)
        except InputError:
            continue  # numbers that no model may have
        if rng.random() < 0.2:
            model = of_weights_for("packed", model)
        plan = random_plan(rng, model)
        if Limits().hold(plan):
            return model, plan
    raise AssertionError(f"none of {_DRAWS} random models fits an Uno")


def random_plan(rng: Rng, model: IntegerChain) -> Plan:
    """Return one of the plans of a model, whether an Uno holds it or not."""
    able = [kernels_of(stage, UNO_CORE) for stage in model.stages]
    kernels = [each[int(rng.integers(len(each)))] for each in able]
    return plan_with(kernels)


def _parameters(shape: Shape) -> int:
    return shape.d * shape.inputs + shape.m * (shape.d + shape.classes)


def _size(rng: Rng, ends: tuple[int, ...], most: int) -> int:
    """Return a size up to `most`: one of the ends, a small one, or any."""
    kind = rng.random()
    if kind < 0.5:
        return int(rng.choice([end for end in ends if end <= most]))
    return int(rng.integers(1, 1 + (most if kind < 0.7 else min(most, 20))))


def _random_shape(rng: Rng) -> Shape:
    first_stage = str(rng.choice([*FIRST_STAGES], p=[0.3, 0.2, 0.2, 0.15, 0.15]))
    before, inputs = FIRST_STAGES[first_stage](rng)
    d = _size(rng, _PROJECTIONS, int(rng.choice(_MOST_PROJECTIONS, p=[0.6, 0.25, 0.13, 0.02])))
    m = _size(rng, _PROTOTYPES, 512)
    return Shape(d, m, _size(rng, _CLASSES, 255), inputs, before)


def _plain(rng: Rng) -> tuple[None, int]:
    return None, _size(rng, _FEATURES, 400)


def _average_pooling(rng: Rng) -> tuple[Features, int]:
    return _pooling(rng, 40, deskew=False)


def _deskew(rng: Rng) -> tuple[Features, int]:
    return _pooling(rng, 32, deskew=True)


def _pooling(rng: Rng, side: int, *, deskew: bool) -> tuple[Features, int]:
    while True:
        image = [int(rng.integers(1, side + 1)) for _ in range(2)]
        if not deskew and rng.random() < 0.2:
            image = [1, int(rng.integers(2, 400))]
        cropped = [int(rng.integers(max(1, s - 6), s + 1)) for s in image]
        shape = [_outputs(rng, pixels) for pixels in cropped]
        try:
            made = average_pooling(tuple(image), tuple(cropped), tuple(shape), deskew=deskew)  # type: ignore[arg-type]
        except InputError:
            continue
        if made.points.n_features <= 1000 and made.n_outputs <= 400:
            return made, made.n_outputs


def _outputs(rng: Rng, pixels: int) -> int:
    """Return what pixels become: as often as not, areas of whole ones."""
    if rng.random() < 0.6:
        return int(rng.choice([k for k in range(1, pixels + 1) if pixels % k == 0]))
    return int(rng.integers(1, pixels + 1))


def _windows(rng: Rng) -> tuple[Features, int]:
    window = int(rng.choice([1, 2, 3, 8, 31, 32, 33, 64, 127, 128, 255, 256]))
    channels = int(rng.integers(1, 7))
    kinds = [kind for kind in KINDS if rng.random() < 0.5] or ["mean"]
    if window == 1:
        kinds = [kind for kind in kinds if kind != "bands"] or ["mean"]
    bands = min(8, window.bit_length() - 1)
    features = FeatureSet(
        tuple(kinds),
        bands=int(rng.integers(1, bands + 1)) if "bands" in kinds else 0,
        hysteresis=int(rng.choice([0, 1, 5, 127])) if "crossings" in kinds else 0,
    )
    scale = ChannelScale((0.0,) * channels, (1.0,) * channels, channels)
    made = window_features(features, (window, channels), scale)
    return made, made.n_outputs


def _gradients(rng: Rng) -> tuple[Features, int]:
    while True:
        cropped = [int(rng.integers(1, 21)) for _ in range(2)]
        image = [int(rng.integers(side, min(32, side + 6) + 1)) for side in cropped]
        cells = [int(rng.integers(1, min(8, side) + 1)) for side in cropped]
        try:
            made = gradient_features(
                (image[0], image[1]),
                (cropped[0], cropped[1]),
                (cells[0], cells[1]),
                int(rng.choice([4, 8])),
                deskew=bool(rng.random() < 0.5),
                shift=int(rng.integers(1, 9)),
            )
        except InputError:  # the sum of a large cell could exceed 16 bits
            continue
        return made, made.n_outputs


FIRST_STAGES: dict[str, Callable[[Rng], tuple[Features | None, int]]] = {
    "none": _plain,
    "average_pooling": _average_pooling,
    "deskew": _deskew,
    "windows": _windows,
    "gradients": _gradients,
}


def random_model_of(rng: Rng, shape: Shape, maximum: int | None = None) -> IntegerChain:
    """Return a model whose inputs are at most `maximum`; by default any."""
    maximum = maximum or int(rng.choice([1, 15, 31, 63, 127, 255]))
    W = _random_projection(rng, shape, maximum)
    span = maximum * np.abs(W).sum(axis=1)
    bits = 16 if span.max() < 65_000 else 24
    upper = max(1, int(span.max()) >> (bits - 16))
    multiplier = int(np.clip(65_536 * rng.choice([60, 300, 3000]) / upper, 1, 30_000))
    offset = rng.integers(-30, 30, shape.d) * (1 << REQUANTIZE_SHIFT)
    offset += rng.integers(0, 256, shape.d) * OFFSET_STEP
    model = protonn_chain(
        inputs=random_input_scales(rng, shape, maximum),
        projection=W.astype(np.int8),
        bias=-(maximum * W.sum(axis=1).astype(np.int64)) // 2,
        accumulator_bits=bits,
        multiplier=multiplier,
        offset=offset.astype(np.int64),
        prototypes=np.zeros((shape.d, shape.m), np.int8),
        distance_shift=int(rng.integers(0, 7)),
        table=exponential_table(),
        labels=_random_labels(rng, shape),
        score_scale=1.0,
        classes=tuple(f"class {label}" for label in range(shape.classes)),
        features=shape.before,
    )
    points = named_stages(model)["projection"].run(
        own_inputs(model, random_points(rng, shape.m, model))
    )
    if rng.random() < 0.5:  # all of them near one point
        points = np.repeat(points[-1:], shape.m, axis=0)
    points += rng.integers(-12, 13, points.shape) * int(rng.choice([0, 1, 8]))
    B = np.clip(points, COORDINATE_MINIMUM, COORDINATE_MAXIMUM).T.astype(np.int8)
    return _with_rejection(rng, replace(model, prototypes=B))


def _random_projection(rng: Rng, shape: Shape, maximum: int) -> np.ndarray:
    W = rng.integers(-128, 128, (shape.d, shape.inputs))
    W = np.where(rng.random(W.shape) < 0.2, rng.choice([-128, -127, -1, 1, 127], W.shape), W)
    W[rng.random(W.shape) < rng.choice([0.0, 0.5, 0.9, 1.0])] = 0
    if rng.random() < 0.5:  # small enough for 16 bits
        W = (W * min(1.0, 60_000 / (1 + maximum * np.abs(W).sum(axis=1).max()))).astype(int)
    return W


def random_input_scales(rng: Rng, shape: Shape, maximum: int) -> InputQuantizer:
    n = shape.inputs
    if isinstance(shape.before, Features) and shape.before.stages[-1].kind == "window_features":
        steps = rng.choice([0.3, 1.0, 7.5, 130.0, -2.0], n)
        return InputQuantizer(rng.integers(-200, 200, n) * np.abs(steps), steps, maximum)
    return InputQuantizer(np.zeros(n), np.ones(n), maximum)


def _random_labels(rng: Rng, shape: Shape) -> np.ndarray:
    largest = rng.choice([1, 20, 128])
    return rng.integers(-largest, largest, (shape.classes, shape.m)).astype(np.int8)


def _with_rejection(rng: Rng, model: IntegerChain) -> IntegerChain:
    """Return the model with thresholds, in one case of three, of any statistics."""
    if rng.random() < 0.65 or not 2 <= model.n_classes < 255:
        return model
    low, high = model.own_stages[-1].output.ends
    largest = {
        "score": max(0, high),
        "distance": int(numbers_of(model)["table"].max()),
        "margin": high - low,
    }
    chosen = {
        "rbf" if name == "distance" else name: int(rng.integers(1, largest[name] + 1))
        for name in STATISTICS
        if rng.random() < 0.5 and largest[name] > 0
    }
    return with_rules(model, IntegerRejection(**chosen)) if chosen else model


def random_points(rng: Rng, n: int, model: IntegerChain) -> np.ndarray:
    """Return n points, (n, features) uint8: dense and sparse ones, all zeros, all the largest."""
    maximum = model.quantizer.maximum
    if channels_of(model) is not None:
        centre, spread = rng.integers(0, 256, (n, 1)), rng.choice([1, 30, 255], (n, 1))
        Q = np.clip(centre + rng.integers(-255, 256, (n, model.n_features)) % (spread + 1), 0, 255)
    else:
        Q = rng.integers(0, maximum + 1, (n, model.n_features))
        Q[rng.random(Q.shape) < rng.random((n, 1))] = 0
    ends = rng.random(n) < 0.2
    Q[ends] = rng.choice([0, maximum], (int(ends.sum()), model.n_features))
    if n > 1:
        Q[0], Q[1] = 0, maximum
    return Q.astype(np.uint8)
