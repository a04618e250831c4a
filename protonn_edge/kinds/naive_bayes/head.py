"""The float form of Gaussian naive Bayes: a mean and a variance per class and feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import (
    Arrays,
    check_type,
    checked_matrix,
    checked_vector,
    set_checked,
)
from protonn_edge.chain.head import Head, Remedies
from protonn_edge.datasets.dataset import dense_rows
from protonn_edge.errors import InputError

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NaiveBayesHead(Head):
    """A trained Gaussian naive Bayes classifier.

    The score of class c for a point x is ``bias_c - sum_i (x_i - mean_ci)^2 / (2 variance_ci)``:
    the logarithm of its prior times its density, up to a constant that all classes share.

    Raises `InputError` if shapes, values or names do not fit together; the sentence names the
    array.
    """

    kind: ClassVar[str] = "naive-bayes"
    title: ClassVar[str] = "naive Bayes"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("fewer classes",),
        sram="fewer classes",
        cycles="fewer classes",
        accuracy="a larger --var-smoothing",
    )
    ARRAYS: ClassVar[tuple[str, ...]] = ("means", "variances", "bias")
    hashed: ClassVar[Mapping[str, str]] = {
        name: f"naive_bayes.{name}" for name in ("means", "weights", "bias", "shift")
    }

    means: NDArray[np.float32]  # (L, D): of normalized features
    variances: NDArray[np.float32]  # (L, D): the same, above 0
    bias: Float64  # (L,): the scores at the means

    def __post_init__(self) -> None:
        means = checked_matrix(self.means, "means")
        rows, columns = means.shape
        variances = checked_matrix(self.variances, "variances", rows=rows, columns=columns)
        if variances.min() <= 0:
            raise InputError("array 'variances' has one that is not above 0; train the model again")
        set_checked(self, "means", means)
        set_checked(self, "variances", variances)
        set_checked(self, "bias", checked_vector(self.bias, "bias", size=rows))

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(self.means.shape[1])

    @property
    def n_classes(self) -> int:
        """L."""
        return len(self.bias)

    @property
    def matrices(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        return {"means": self.means, "variances": self.variances, "bias": self.bias}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the head of a file's arrays."""
        for name, wanted in (("means", "f4"), ("variances", "f4"), ("bias", "f8")):
            check_type(arrays[name], name, wanted)
        return cls(arrays["means"], arrays["variances"], arrays["bias"])

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
