"""Calibrate a trained model: its probabilities, and the accuracy that a test bench requires.

Probabilities are the softmax of the scores times one factor, the inverse temperature of Guo et al.
(2017), which is at most 1 if the loss makes the scores logits. The factor is fitted to training
points, which have better scores than new points. If the scores separate the classes, the log loss
has no minimum but falls as the factor grows. Platt's targets (1999, section 2.2) are used for this
reason: a class of n points is never certain, but gets the probability (n + 1) / (n + 2) that a
uniform prior gives after n successes in n trials.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.expected_answers import ExpectedAnswers
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.system.arrays import Array

_STEPS = 60
_LOWEST, _HIGHEST = 1e-3, 1e3  # in units of 1 / the largest score


def fitted_sharpness(
    scores: NDArray[np.float64], y: NDArray[np.int64], *, certain: bool = True
) -> float:
    """Return the factor t > 0 for which the softmax of ``t scores`` has the smallest log loss.

    The scores (n, L) belong to points of classes y (n,). Targets are Platt's unless `certain`.
    """
    largest = float(np.abs(scores).max()) or 1.0
    low, high = np.log(_LOWEST / largest), np.log(_HIGHEST / largest)
    own = scores[np.arange(len(y)), y]
    if not certain and scores.shape[1] > 1:
        others = (scores.sum(axis=1) - own) / (scores.shape[1] - 1)
        own += (others - own) / (np.bincount(y)[y] + 2)
    highest = scores.max(axis=1, keepdims=True)
    for _ in range(_STEPS):  # the loss is convex in t, so its slope crosses 0 once
        middle = (low + high) / 2.0
        likely = softmax(scores * np.exp(middle), highest * np.exp(middle))
        expected = np.einsum("ij,ij->i", likely, scores)
        if float(np.mean(expected - own)) > 0.0:
            high = middle
        else:
            low = middle
    return float(np.exp((low + high) / 2.0))


def least_log_loss(scores: Array, y: NDArray[np.int64]) -> float:
    """Return the log loss of scores (n, L) of classes y (n,), calibrated with Platt's targets."""
    if not len(y):
        return 0.0
    shares = softmax(scores * fitted_sharpness(scores.astype(np.float64), y, certain=False))
    return float(-np.log(np.maximum(shares[np.arange(len(y)), y], 1e-300)).mean())


def softmax(logits: Array, highest: Array | None = None) -> NDArray[np.float64]:
    """Return the softmax of logits (n, L), given the highest of each point (n, 1) if known."""
    if highest is None:
        highest = logits.max(axis=1, keepdims=True)
    likelihoods = np.exp(logits - highest)
    shares: NDArray[np.float64] = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    return shares


def with_accuracy_floor(model: Model, X: Array, y: NDArray[np.int64] | None) -> Model:
    """Record the minimum accuracy of a device, and the answers to expect, in a model.

    The minimum is the integer accuracy on raw test points X (n, D) of classes y (n,) minus two
    standard errors for n points, so that other points of the same kind reach it, too; for the
    answers, see `model.watch`. Nothing is recorded without test points, or for a model that
    runs in floats only.
    """
    if why_floats_alone(model) is not None or X.shape[0] == 0 or model.policy.predicts != "class":
        return model
    integers = quantize(model)
    Q = integers.quantize(X)
    share = float(np.mean(integers.predict(Q) == y))
    error = math.sqrt(share * (1 - share) / len(Q))
    floor = math.floor(1000 * max(0.0, share - 2 * error)) / 1000
    record = {**model.record, "accuracy_floor": floor}
    return replace(model, record=record, expected=ExpectedAnswers.of(integers, Q))
