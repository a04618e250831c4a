"""Thresholds that reject no more than a wanted share of known points.

They are chosen on points that are known and were not trained on. The k-th smallest of n values of
a statistic, ``k = floor(rate (n + 1))``, is the threshold: of all known points of the same origin a
share of at most ``k / (n + 1) <= rate`` is expected below it, whatever their distribution is (Vovk
et al., Algorithmic Learning in a Random World, 2005). Several statistics share the rate evenly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.errors import InputError
from protonn_edge.model import Model
from protonn_edge.quantization.quantize import quantize
from protonn_edge.stages.decision.rejection import STATISTICS, Rejection, Statistic, margins
from protonn_edge.stages.prototypes.exponential import RBF_MAXIMUM

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Statistics:
    """What tells points that are unlike the known ones, in the float model's units.

    Attributes
    ----------
    score, distance, margin : ndarray of shape (n,), float64
        See `stages.decision`; the distance is an RBF, 0..1, which falls with it.
    """

    score: Floats
    distance: Floats
    margin: Floats

    def __len__(self) -> int:
        return len(self.score)

    @property
    def median_distance(self) -> float:
        """Of the nearest prototype, in RBF widths; infinite if it is far for half the points."""
        rbf = float(np.median(self.distance))
        return math.sqrt(-math.log(rbf)) if rbf > 0 else math.inf

    def with_distances(self, factor: float) -> Statistics:
        """Return the same with distances that are that many times as long."""
        shorter = np.power(self.distance, factor**2)  # of exp(-d^2); 0 stays 0
        return replace(self, distance=shorter)


def statistics_of(model: Model, X: ArrayLike) -> Statistics:
    """Return the statistics of raw points X (n, features), as the integer model has them.

    Raises
    ------
    InputError
        If the model has no integers, or the points do not fit it.
    """
    integers = quantize(replace(model, rejection=None))
    Q = integers.quantize(X)
    scores, nearest = integers.scores_and_nearest(Q)
    return Statistics(
        score=scores.max(axis=1) * integers.score_scale,
        distance=nearest / RBF_MAXIMUM,
        margin=margins(scores) * integers.score_scale,
    )


def together(parts: Sequence[Statistics]) -> Statistics:
    """Return the statistics of all points of several parts."""
    return Statistics(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in STATISTICS)
    )


def rejection_for(
    known: Statistics, rate: float, by: Sequence[Statistic] = ("score",)
) -> Rejection:
    """Return thresholds below which a share of at most `rate` of known points is expected.

    Parameters
    ----------
    known : Statistics
        Of points that are known and were not trained on.
    rate : float
        Above 0, below 1.
    by : sequence of {"score", "distance", "margin"}
        What has a threshold, each once.

    Raises
    ------
    InputError
        If there are too few points for the rate, or so many of them have the least value of a
        statistic that no threshold lets enough pass.
    """
    if not 0 < rate < 1:
        raise InputError(f"the rate of false alarms is {rate:g}; it must be above 0 and below 1")
    if not by or len(set(by)) < len(by):
        raise InputError("name one statistic to reject by, or several different ones")
    of_each = {name: _threshold(getattr(known, name), rate / len(by), name) for name in by}
    return Rejection(
        score=of_each.get("score", 0.0),
        rbf=of_each.get("distance", 0.0),
        margin=of_each.get("margin", 0.0),
    )


def check_statistics(model: Model, by: Sequence[Statistic]) -> None:
    """Refuse to reject points by what models of this kind do not have."""
    for name in by:
        if name not in model.statistics:
            raise InputError(
                f"a {model.title} model has no {name} to reject points by; take "
                f"{' or '.join(model.statistics)}"
            )
    check_margin(model.n_classes, by)


def check_margin(n_classes: int, by: Sequence[Statistic]) -> None:
    """Refuse to reject points by the lead over a second class where there is none."""
    if "margin" in by and n_classes < 2:
        raise InputError(
            "a model of one class has no margin to reject points by; take score or distance"
        )


def check_rate(n: int, rate: float) -> int:
    """Return which of n sorted values is the threshold for this rate, counted from 1.

    Raises
    ------
    InputError
        If there are too few.
    """
    k = math.floor(rate * (n + 1) + 1e-9)
    if k < 1:
        raise InputError(
            f"{n:,} points are too few to tell a false alarm in {1 / rate:,.0f}; give "
            f"{math.ceil(1 / rate) - 1:,} or more, or ask for a larger share"
        )
    return k


def _threshold(values: Floats, rate: float, name: str) -> float:
    k = check_rate(len(values), rate)
    threshold = float(np.partition(values, k - 1)[k - 1])
    if not threshold > 0:
        below = 100 * float(np.mean(values <= 0))
        raise InputError(
            f"{below:.4g} % of the known points have a {name} that is the least there is; ask for "
            "more false alarms, reject by another statistic, or train a larger model"
        )
    return threshold


def with_rejection(
    model: Model, known: Statistics, rate: float, by: Sequence[Statistic] = ("score",)
) -> Model:
    """Return the model that rejects by thresholds for `rate`, which its record then has.

    Raises
    ------
    InputError
        As `rejection_for`, or if the model does not have one of the statistics.
    """
    check_statistics(model, by)
    rejection = rejection_for(known, rate, by)
    told = {"rate": rate, "by": list(by), "n": len(known)}
    return replace(model, rejection=rejection, record={**model.record, "rejection": told})
