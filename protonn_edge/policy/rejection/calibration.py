"""Choose thresholds that reject at most a given share of known points.

The thresholds are chosen on known points that were not used for training. A threshold is the k-th
smallest of n values of a statistic, ``k = floor(rate (n + 1))``: for any distribution, at most a
share of ``k / (n + 1) <= rate`` of all known points from the same source is expected below it (Vovk
et al., Algorithmic Learning in a Random World, 2005). Several statistics share the rate evenly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.model.checks import Float64
from protonn_edge.model.head import kind_title
from protonn_edge.model.integer_chain import scores_and_nearest
from protonn_edge.model.model import Model
from protonn_edge.model.nearness import NearestHead, nearness_of
from protonn_edge.model.policy import with_rules, without_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection import STATISTICS, Statistic
from protonn_edge.policy.rejection.rule import Rejection, margins
from protonn_edge.system.checks import check, check_choice
from protonn_edge.system.errors import InputError, InvalidValue


@dataclass(frozen=True, eq=False)
class Statistics:
    """Statistics that detect points unlike the known ones, in the float model's units."""

    # (n,): see the module `rule`; the distance is given as an RBF, 0..1, which decreases with it
    score: Float64
    distance: Float64
    margin: Float64

    def __len__(self) -> int:
        return len(self.score)

    @property
    def median_distance(self) -> float:
        """Median distance to the nearest prototype, in RBF widths; infinite if half are far."""
        rbf = float(np.median(self.distance))
        return math.sqrt(-math.log(rbf)) if rbf > 0 else math.inf

    def with_distances(self, factor: float) -> Statistics:
        """Return these statistics with distances multiplied by a factor."""
        shorter = np.power(self.distance, factor**2)  # of exp(-d^2); 0 stays 0
        return replace(self, distance=shorter)


def statistics_of(model: Model, X: ArrayLike) -> Statistics:
    """Return the integer model's statistics of raw points X (n, features).

    Raises `InputError` if there is no integer model or the points do not fit it.
    """
    integers = quantize(without_rules(model))
    Q = integers.quantize(X)
    scores, nearest = scores_and_nearest(integers, Q)
    return Statistics(
        score=scores.max(axis=1) * integers.score_scale,
        distance=nearest / nearness_of(integers.own_stages[-1]).unit,
        margin=margins(scores) * integers.score_scale,
    )


def together(parts: Sequence[Statistics]) -> Statistics:
    """Concatenate the statistics of several parts."""
    return Statistics(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in STATISTICS)
    )


def rejection_for(
    statistics: Statistics, rate: float, by: Sequence[Statistic] = ("score",)
) -> Rejection:
    """Return thresholds below which a share of at most `rate` of known points is expected.

    The points must not have been used for training; each statistic in `by` gets a threshold.

    Raises `InputError` if there are too few points for the rate, or if no threshold accepts enough
    of them because too many share the smallest value of a statistic.
    """
    if not 0 < rate < 1:
        raise InvalidValue(
            "rate of false alarms", f"{rate:g}, expected a number above 0 and below 1"
        )
    check(
        len(by) > 0 and len(set(by)) >= len(by),
        "statistics for rejection",
        repr(by),
        "at least one, and each only once",
    )
    of_each = {name: _threshold(getattr(statistics, name), rate, name, len(by)) for name in by}
    return Rejection(
        score=of_each.get("score", 0.0),
        rbf=of_each.get("distance", 0.0),
        margin=of_each.get("margin", 0.0),
    )


def check_statistics(model: Model, by: Sequence[Statistic]) -> None:
    """Refuse statistics that models of this kind do not have."""
    known = isinstance(model.head, NearestHead)
    usable = [name for name in STATISTICS if known or name != "distance"]
    for name in by:
        check_choice(f"statistic of a {kind_title(model.head.kind)} model", name, usable)
    check_margin(model.n_classes, by)


def check_margin(n_classes: int, by: Sequence[Statistic]) -> None:
    """Refuse the margin as a statistic if there is only one class."""
    if "margin" in by and n_classes < 2:
        raise InvalidValue(
            "statistic 'margin'",
            "a model of one class has no margin",
            "choose 'score' or 'distance'",
        )


def check_rate(n: int, rate: float, count: int = 1) -> int:
    """Return the rank, from 1, of a rate's threshold among n values; refuse too few values.

    The rate is that of `count` statistics, which have an equal part in it each.
    """
    k = math.floor(rate / count * (n + 1) + 1e-9)
    if k < 1:
        raise InputError(
            f"{n:,} points are too few to measure one false alarm in {count / rate:,.0f}; give "
            f"{math.ceil(count / rate) - 1:,} points or more, or {_allow(1, n, count)}"
        )
    return k


def _allow(k: int, n: int, count: int) -> str:
    """Return the advice of the smallest rate of which thresholds among n values have rank k."""
    least = f"{math.ceil(1e4 * k * count / (n + 1)) / 100:.6g}"
    return f"allow at least {least} % false alarms with --rejection {least}%"


def _threshold(values: Float64, rate: float, name: str, count: int) -> float:
    k = check_rate(len(values), rate, count)
    threshold = float(np.partition(values, k - 1)[k - 1])
    if not threshold > 0:
        below, n = int(np.sum(values <= 0)), len(values)
        allow = f"{_allow(below + 1, n, count)}, or " * (count * (below + 1) < n + 1)
        raise InputError(
            f"{100 * below / n:.4g} % of the known points have the smallest possible {name}; "
            f"{allow}train on more points"
        )
    return threshold


def with_rejection(
    model: Model, statistics: Statistics, rate: float, by: Sequence[Statistic] = ("score",)
) -> Model:
    """Return the model with thresholds for `rate`, noted in its record; see `rejection_for`."""
    check_statistics(model, by)
    rejection = rejection_for(statistics, rate, by)
    facts = {"rate": rate, "by": list(by), "n": len(statistics)}
    record = {**model.record, "rejection": facts}
    calibrated: Model = with_rules(replace(model, record=record), rejection)
    return calibrated
