"""The example in floats: a mean for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.head import FEWER_FEATURES, Head, Remedies, member


@dataclass(frozen=True, eq=False)
class NearestMeanHead(Head):
    """The means of the classes.

    The score of a class is the negative distance of a point from its mean, as the sum of absolute
    differences.

    Raises `InputError` if a number is not finite.
    """

    kind: ClassVar[str] = "nearest_mean"
    remedies: ClassVar[Remedies] = Remedies.only(FEWER_FEATURES)

    means: NDArray[np.float32] = member("M", "L", "D")  # of normalized features

    @property
    def values_a_point(self) -> int:
        """Values per point."""
        return self.n_inputs

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores (n, L) of normalized points X (n, D)."""
        distances = [np.abs(X - mean).sum(axis=1) for mean in self.means.astype(np.float64)]
        return -np.stack(distances, axis=1)
