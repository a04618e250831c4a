"""Window features: all of them, with inputs that span each feature's range, and as trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isqrt

import numpy as np
from laws.conformance.instances import Instance
from model_factory import random_window_model, random_windows, window_features_of

from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.features.window_features.windows import FeatureSet
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.quantization import quantize

_ALL = "mean,deviation,min,max,change,crossings:2,bands:5"


def instances() -> Iterator[Instance]:
    """Yield windows."""
    for name, text, window, channels in (
        ("spanned", _ALL, 32, 2),
        ("as trained", _ALL, 40, 2),
        ("bands of an odd window", "deviation,bands:3", 33, 3),
        ("the longest window", "mean,crossings:0", 256, 1),
    ):
        features = window_features_of(text, window, channels)
        model = quantize(random_window_model(features, projections=10, prototypes=20))
        extremes = _extreme_windows(window, channels)
        if name == "spanned":
            model = _spanned(model, extremes)
        points = random_windows(5, 20, features)
        yield Instance(name, model, model.stages[0], points, extremes, reached=name == "spanned")


def _spanned(model: IntegerChain, extremes: np.ndarray) -> IntegerChain:
    """Return the model whose inputs are 0 and the maximum at the ends of what features reach."""
    assert model.features is not None
    reached = run_through(model.features.stages, extremes.astype(np.uint8))
    low, high = reached.min(axis=0).astype(float), reached.max(axis=0).astype(float)
    maximum = model.inputs.maximum
    return replace(model, inputs=InputQuantizer(low, (high - low) / maximum, maximum))


def _extreme_windows(window: int, channels: int) -> np.ndarray:
    """Return windows of 0, of 255, and of both in turns of 1, 2, 4 ... samples."""
    t = np.arange(window)
    waves = [t * 0, t * 0 + 255, *(255 * (t >> k & 1) for k in range(8))]
    waves += [255 - wave for wave in waves[2:]]
    return np.repeat(np.array(waves), channels, axis=1)


def reference(stage: IntegerWindowFeatures, point: list[int]) -> list[int]:
    """Return the features of a window, as bytes."""
    channels, quantizer = stage.window.channels, stage.quantizer
    raw: list[int] = []
    for channel in range(channels):
        raw += features_by_the_definition(stage.window.features, point[channel::channels])
    inputs = []
    for choice, feature in zip(quantizer.choice.tolist(), raw, strict=True):
        scale = quantizer.scales[choice]
        beyond = scale.first - feature if scale.mirrored else feature - scale.first
        t = min(max(beyond, 0), scale.span) << scale.shift
        q = max(t * scale.multiplier + (t * scale.fraction >> 8) + scale.offset, 0) >> 22
        inputs.append(min(q, quantizer.maximum))
    return inputs


def features_by_the_definition(declared: FeatureSet, samples: list[int]) -> list[int]:
    """Return the features of a channel's bytes."""
    x, n = [byte - 128 for byte in samples], len(samples)
    found = []
    for kind in declared.kinds:
        if kind == "mean":
            found.append(sum(x))
        elif kind == "deviation":
            found.append(isqrt(n * sum(each * each for each in x) - sum(x) ** 2))
        elif kind == "min":
            found.append(min(x))
        elif kind == "max":
            found.append(max(x))
        elif kind == "change":
            found.append(sum(abs(x[t] - x[t - 1]) for t in range(1, n)) >> 1)
        elif kind == "crossings":
            found.append(_crossings(x, declared.hysteresis))
        else:
            found += _bands(x, declared.bands)
    return found


def _crossings(x: list[int], hysteresis: int) -> int:
    level, side, count = 128 * x[0], 0, 0
    for sample in x:
        beyond = 128 * sample - level
        if abs(beyond) > 128 * hysteresis:
            now = 1 if beyond > 0 else -1
            count += side == -now
            side = now
        level += beyond >> 4
    return count


def _bands(x: list[int], bands: int) -> list[int]:
    energies = []
    for _ in range(bands):
        pairs = list(zip(x[0::2], x[1::2], strict=False))
        energies.append(isqrt(sum((second - first) ** 2 for first, second in pairs)))
        x = [first + second for first, second in pairs]
    return energies
