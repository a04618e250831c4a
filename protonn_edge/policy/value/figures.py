"""How near predicted numbers are to the true ones."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import Figure, percent
from protonn_edge.system.schema import JsonObject

Values = Array
Groups = NDArray[np.int64] | None

COVERED = 0.9
"""The share of new points whose values the interval should contain."""

_MAE = "mean absolute error"

_CONFIDENCE = 0.95  # of the interval of a mean
_ROUNDING = 1e-9  # of sums of shares


@dataclass(frozen=True)
class ValueFigures:
    """The figures of n >= 1 predicted numbers, in the label's unit."""

    n: int
    mae: float  # the mean of the absolute errors
    # with a confidence of 95 %: see `interval_of_mean`; None of too few points or of one group
    mae_interval: tuple[float, float] | None
    rmse: float  # the root of the mean squared error
    r2: float | None  # the share of the variance that is explained; None without variance
    mean_mae: float  # the MAE of always answering the mean of the training points
    within: float | None = None  # the share of errors of at most a tolerance, 0..1
    tolerance: float | None = None

    @classmethod
    def of(
        cls,
        predicted: Values,
        actual: Values,
        mean: float,
        tolerance: float | None = None,
        groups: Groups = None,
    ) -> Self:
        """Return the figures of numbers (n,), given the mean of the training points."""
        errors = predicted - actual
        return cls(
            n=len(actual),
            mae=float(np.abs(errors).mean()),
            mae_interval=interval_of_mean(np.abs(errors), groups),
            rmse=math.sqrt(float(np.square(errors).sum()) / len(actual)),
            r2=explained_share(predicted, actual),
            mean_mae=float(np.abs(actual - mean).mean()),
            within=None if tolerance is None else float((np.abs(errors) <= tolerance).mean()),
            tolerance=tolerance,
        )

    def to_json(self) -> JsonObject:
        """Return the figures as a JSON object."""
        return asdict(self)

    @property
    def figures(self) -> list[Figure]:
        """The figures, of which the first is the mean absolute error."""
        figures = [
            Figure(
                "mean_absolute_error",
                _MAE,
                self.mae,
                digits=None,
                better="less",
                interval=self.mae_interval,
            ),
            Figure("mean_mae", "always the mean", self.mean_mae, digits=None),
            Figure("rmse", "RMSE", self.rmse, digits=None, better="less"),
        ]
        if self.r2 is not None:
            figures.append(Figure("r2", "R2", self.r2, "", 3, "more"))
        if self.within is not None:
            figures.append(
                Figure("within", f"within {self.tolerance:g}", self.within, "%", 1, "more")
            )
        return figures

    @property
    def sentence(self) -> str:
        """The figures, beginning with the mean absolute error."""
        mae, always, *others = self.figures
        known = f"95 % confidence: {mae.range}; " if mae.interval else ""
        text = f"{mae.name} {mae.number} ({known}{always.name}: {always.text})"
        share = [others.pop()] if self.within is not None else []
        text += "".join(f", {each.name} {each.text}" for each in others)
        return text + "".join(f", {each.text} {each.name}" for each in share)


def explained_share(predicted: Values, actual: Values) -> float | None:
    """Return R2, the share of the variance of numbers that is explained; None without variance."""
    spread = float(np.square(actual - actual.mean()).sum())
    return 1.0 - float(np.square(predicted - actual).sum()) / spread if spread > 0 else None


def interval_of_mean(values: Values, groups: Groups = None) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean of values (n,) >= 0; None for a single value or group.

    It is Student's interval. Points of a group, such as a person, err alike, so the deviation is
    that of the sums of `groups` (n,) (K.-Y. Liang and S. L. Zeger, 1986), with as many degrees of
    freedom as there are other groups.
    """
    # Imported here, because most commands that read a model measure nothing.
    from scipy.special import stdtrit

    mean, n = float(values.mean()), len(values)
    group_of = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(group_of, values - mean)
    if len(sums) < 2:
        return None
    deviation = math.sqrt(float(np.square(sums).sum()) * len(sums) / (len(sums) - 1)) / n
    half = float(stdtrit(len(sums) - 1, (1 + _CONFIDENCE) / 2)) * deviation
    return max(0.0, mean - half), mean + half


class Interval(NamedTuple):
    """The interval around predicted numbers, from points that training did not use."""

    half_width: float | None  # half of its width; None if there are too few points
    # the number of groups of these points, if they are too few for a claim about other groups;
    # otherwise 0
    n_groups: int = 0

    @classmethod
    def of(cls, residuals: Values, groups: Groups = None) -> Self:
        """Return the interval that contains `COVERED` of new points, at least.

        It is the smallest absolute residual (n,) that reaches this share if another group of
        `groups` (n,), with an infinite residual, is added, and each group weighs the same (Y. Lee,
        R. F. Barber and R. Willett, 2023). Without groups, each point is one, and this is the
        split conformal interval (J. Lei et al., 2018, algorithm 2). Of too few groups, it is that
        of new points of these groups.
        """
        n = len(residuals)
        group_of = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
        sizes = np.bincount(group_of, minlength=1)
        if len(sizes) / (len(sizes) + 1) < COVERED - _ROUNDING:
            if groups is None:
                return cls(None)
            return cls(cls.of(residuals).half_width, len(sizes))
        errors = np.abs(residuals)
        order = np.argsort(errors, kind="stable")
        shares = np.cumsum(1 / sizes[group_of[order]]) / (len(sizes) + 1)
        return cls(float(errors[order][np.searchsorted(shares, COVERED - _ROUNDING)]))


def interval_words(half_width: str, n_groups: int) -> str:
    """Return the meaning of an interval of this half width, as text."""
    of = f" of the {counted(n_groups, 'held-out group')}" if n_groups else ""
    others = "; unknown for other groups" if n_groups else ""
    return f"about {percent(COVERED, 0)} of new points{of} within {half_width}{others}"
