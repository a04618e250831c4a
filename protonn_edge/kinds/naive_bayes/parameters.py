"""The parameters of naive Bayes classifiers, apart so that help needs no scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.training.parameters import Number, SharedParameters, parameter


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayesParameters(SharedParameters):
    """The parameters for training a naive Bayes classifier.

    Parameters
    ----------
    var_smoothing : float, default=1e-9
        Share of the largest variance of a normalized feature that is added to all variances.
    """

    var_smoothing: float = parameter(
        1e-9,
        Number(float, 1e-12, 1e3),
        help="Share of the largest variance that is added to all variances.",
        option="--var-smoothing",
    )
