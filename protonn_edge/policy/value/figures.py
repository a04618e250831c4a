"""How near predicted numbers are to the true ones."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]

COVERED = 0.9
"""The share of new points whose values the interval should contain."""


@dataclass(frozen=True)
class ValueFigures:
    """The figures of n >= 1 predicted numbers, in the label's unit."""

    n: int
    mae: float  # the mean of the absolute errors
    rmse: float  # the root of the mean squared error
    r2: float | None  # the share of the variance that is explained; None without variance
    mean_mae: float  # the MAE of always answering the mean of the training points
    within: float | None = None  # the share of errors of at most a tolerance, 0..1
    tolerance: float | None = None

    @classmethod
    def of(
        cls, predicted: Values, actual: Values, mean: float, tolerance: float | None = None
    ) -> Self:
        """Return the figures of numbers (n,), given the mean of the training points."""
        errors = predicted - actual
        return cls(
            n=len(actual),
            mae=float(np.abs(errors).mean()),
            rmse=math.sqrt(float(np.square(errors).sum()) / len(actual)),
            r2=explained_share(predicted, actual),
            mean_mae=float(np.abs(actual - mean).mean()),
            within=None if tolerance is None else float((np.abs(errors) <= tolerance).mean()),
            tolerance=tolerance,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return asdict(self)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The figures as rows."""
        rows = [
            ("mean absolute error", f"{self.mae:.4g}"),
            ("always the mean", f"{self.mean_mae:.4g}"),
            ("RMSE", f"{self.rmse:.4g}"),
        ]
        rows += [] if self.r2 is None else [("R2", f"{self.r2:.3f}")]
        if self.within is not None:
            rows.append((f"within {self.tolerance:g}", f"{100 * self.within:.1f} %"))
        return rows

    @property
    def sentence(self) -> str:
        """The figures, beginning with the mean absolute error."""
        text = f"mean absolute error {self.mae:.4g}"
        text += f" (always the mean: {self.mean_mae:.4g}), RMSE {self.rmse:.4g}"
        text += "" if self.r2 is None else f", R2 {self.r2:.3f}"
        if self.within is not None and self.tolerance is not None:
            text += f", {100 * self.within:.1f} % within {self.tolerance:g}"
        return text


def explained_share(predicted: Values, actual: Values) -> float | None:
    """Return R2, the share of the variance of numbers that is explained; None without variance."""
    spread = float(np.square(actual - actual.mean()).sum())
    return 1.0 - float(np.square(predicted - actual).sum()) / spread if spread > 0 else None


def half_width_of(residuals: Values) -> float | None:
    """Return half the width of the interval that contains `COVERED` of new points, at least.

    - `residuals` (n,): of points that training did not use.

    It is the ceil((n + 1) `COVERED`)-th smallest absolute residual (split conformal prediction:
    J. Lei et al., 2018, algorithm 2). None if there are too few points.
    """
    rank = math.ceil((len(residuals) + 1) * COVERED)
    if rank > len(residuals):
        return None
    return float(np.sort(np.abs(residuals))[rank - 1])
