"""The float linear model, with scores that are sums of weighted features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.checks import Float64
from protonn_edge.model.head import Head, Remedies, member
from protonn_edge.model.sums import scores_of_sums
from protonn_edge.system.arrays import Array


@dataclass(frozen=True, eq=False)
class LinearHead(Head):
    """A trained linear classifier, such as a logistic regression.

    The scores of a point x are ``t = W x + b``; for two classes, with one row of weights, they are
    -t/2 and t/2. Their softmax then is the logistic regression's probability. A row that is `alone`
    has one score, t.

    Raises `InputError` if shapes, values or names disagree; the sentence names the array.
    """

    kind: ClassVar[str] = "linear"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("a larger --regularization",),
        sram="fewer classes",
        cycles="fewer classes",
        accuracy="--clip or a larger --regularization",
    )

    # W, for normalized features: a row per class, or one row for the second of two classes
    weights: NDArray[np.float32] = member("W", "L", "D")
    bias: Float64 = member("b", "L")
    alone: bool = False  # whether the only row is the score itself

    @property
    def n_classes(self) -> int:
        """L: 2, if there is one row of weights that is not alone."""
        return 1 if self.alone else max(2, len(self.weights))

    @property
    def values_a_point(self) -> int:
        """Values per point."""
        return self.n_classes

    def scores(self, X: Array) -> Float64:
        """Return the scores (n, L) of normalized points X (n, D), dense or sparse."""
        sums = X @ self.weights.astype(np.float64).T + self.bias
        return sums if self.alone else scores_of_sums(sums)
