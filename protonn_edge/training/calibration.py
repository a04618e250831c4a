"""Calibrate a trained model with points: probabilities, and the accuracy that a bench requires.

Probabilities are the softmax of the scores times one number, the inverse temperature of Guo et al.
(2017), at most 1 if a loss makes the scores logits. It is fitted to training points, which have
better scores than new points. If the scores separate the classes, the log loss has no minimum: the
larger the number, the better. The targets are therefore Platt's (1999, section 2.2): a class of n
points is never certain, but has the probability (n + 1) / (n + 2) that a uniform prior gives it
after n successes in n trials.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.model import Model
from protonn_edge.chain.observation import ExpectedAnswers
from protonn_edge.datasets.dataset import dense_features
from protonn_edge.quantization import quantize, why_floats_alone

_STEPS = 60
_LOWEST, _HIGHEST = 1e-3, 1e3  # times one over the largest score


def fitted_sharpness(
    scores: NDArray[np.float64], y: NDArray[np.int64], *, certain: bool = True
) -> float:
    """Return the number t > 0 for which the softmax of ``t scores`` has the least log loss.

    The scores (n, L) are of points of the classes y (n,); unless that is `certain`, targets are
    Platt's.
    """
    largest = float(np.abs(scores).max()) or 1.0
    low, high = np.log(_LOWEST / largest), np.log(_HIGHEST / largest)
    own = scores[np.arange(len(y)), y]
    if not certain and scores.shape[1] > 1:
        others = (scores.sum(axis=1) - own) / (scores.shape[1] - 1)
        own += (others - own) / (np.bincount(y)[y] + 2)
    for _ in range(_STEPS):  # the loss is convex in t, so its slope crosses 0 once
        middle = (low + high) / 2.0
        expected = np.einsum("ij,ij->i", softmax(scores * np.exp(middle)), scores)
        if float(np.mean(expected - own)) > 0.0:
            high = middle
        else:
            low = middle
    return float(np.exp((low + high) / 2.0))


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Return the softmax of logits (n, L)."""
    likelihoods = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    return shares


def with_accuracy_floor(model: Model, X: Any, y: NDArray[np.int64] | None) -> Model:
    """Return the model with the minimum accuracy of a device in its record, and what it expects.

    The former is the integer accuracy on raw test points X (n, D) of classes y (n,), minus two
    standard errors for that number of points, so that other points of the same kind reach it, too;
    for the latter, see `chain.observation`. Without test points, or for a model that runs in floats
    only, nothing is recorded.
    """
    if why_floats_alone(model) is not None or X.shape[0] == 0:
        return model
    integers = quantize(model)
    Q = integers.quantize(dense_features(X, "the test part"))
    share = float(np.mean(integers.predict(Q) == y))
    error = math.sqrt(share * (1 - share) / len(Q))
    floor = math.floor(1000 * max(0.0, share - 2 * error)) / 1000
    record = {**model.record, "accuracy_floor": floor}
    return replace(model, record=record, expected=ExpectedAnswers.of(integers, Q))
