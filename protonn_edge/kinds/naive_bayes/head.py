"""The float form of Gaussian naive Bayes: a mean and a variance for each class and feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Float64
from protonn_edge.chain.head import Head, Remedies, member
from protonn_edge.datasets.dataset import dense_rows
from protonn_edge.errors import InputError


@dataclass(frozen=True, eq=False)
class NaiveBayesHead(Head):
    """A trained Gaussian naive Bayes classifier.

    The score of class c for a point x is ``bias_c - sum_i (x_i - mean_ci)^2 / (2 variance_ci)``:
    the logarithm of the class's prior times its density, up to a constant common to all classes.

    Raises `InputError` if shapes, values or names disagree; the sentence names the array.
    """

    kind: ClassVar[str] = "naive-bayes"
    title: ClassVar[str] = "naive Bayes"
    last_step: ClassVar[str] = "means"
    knows_its_inputs: ClassVar[bool] = True
    remedies: ClassVar[Remedies] = Remedies(
        flash=("fewer classes",),
        sram="fewer classes",
        cycles="fewer classes",
        accuracy="a larger --var-smoothing",
    )

    means: NDArray[np.float32] = member("means", "f4", "L", "D")  # of normalized features
    variances: NDArray[np.float32] = member("variances", "f4", "L", "D")  # the same, above 0
    bias: Float64 = member("bias", "f8", "L")  # the scores at the means

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variances.min() <= 0:
            raise InputError("array 'variances' has a value of 0 or less; train the model again")

    @property
    def values_a_point(self) -> int:
        """Values per point."""
        return 2 * self.n_inputs + self.n_classes

    def scores(self, X: Any) -> Float64:
        """Return the scores (n, L) of normalized points X (n, D), dense or sparse."""
        X = dense_rows(X, slice(None)).astype(np.float64)
        means, weights = self.means.astype(np.float64), 0.5 / self.variances.astype(np.float64)
        distances = [
            np.square(X - mean) @ weight for mean, weight in zip(means, weights, strict=True)
        ]
        scores: Float64 = self.bias - np.stack(distances, axis=1)
        return scores
