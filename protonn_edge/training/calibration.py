"""From scores to probabilities: the softmax of the scores times one number.

The number is the inverse temperature of Guo et al. (2017), at most 1 where a loss makes the scores
logits. It is fitted to training points, whose scores are better than those of new points. Where the
scores separate the classes, the log loss has no minimum: the larger the number, the better. The
targets are therefore those of Platt (1999, section 2.2): a class of n points is never certain, but
has the probability (n + 1) / (n + 2) that a uniform prior gives it after n successes in n trials.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEPS = 60
_LOWEST, _HIGHEST = 1e-3, 1e3  # times one over the largest score


def fitted_sharpness(
    scores: NDArray[np.float64], y: NDArray[np.int64], *, certain: bool = True
) -> float:
    """Return the number t > 0 for which the softmax of ``t scores`` has the least log loss.

    Parameters
    ----------
    scores : ndarray of shape (n, L)
    y : ndarray of shape (n,)
        Class indices.
    certain : bool
        Whether each point is certainly of its class; otherwise targets are Platt's.
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
