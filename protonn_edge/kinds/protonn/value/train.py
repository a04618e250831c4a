"""ProtoNN as a scikit-learn regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.policy.value.train import DeviceRegressor
from protonn_edge.training.refusals import Refusal


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNRegressor(DeviceRegressor, ProtoNNClassifier):
    """A number from prototypes in a learned, low-dimensional space.

    The prediction is ``offset + scale * sum_j Z[0, j] exp(-gamma^2 ||B[:, j] - W x||^2)``: a
    network of radial basis functions whose inputs are projected by W. All matrices are learned
    together, as in `ProtoNNClassifier`, with the squared error as loss.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from protonn_edge.kinds.protonn.value.train import ProtoNNRegressor
    >>> X, y = make_friedman1(600, random_state=0)
    >>> regressor = ProtoNNRegressor(n_projections=6, n_prototypes=24, random_state=0)
    >>> regressor = regressor.fit(X[:400], y[:400])
    >>> bool(regressor.score(X[400:], y[400:]) > 0.8)
    True
    """

    refusals: ClassVar[tuple[Refusal, ...]] = (
        Refusal(
            lambda case: case.first_set("loss optimizer"),
            "{it} is for classes, but labels are numbers; leave it out",
        ),
    )

    @property
    def learns_logits(self) -> bool:
        """Whether the loss makes the scores logits: not the squared error."""
        return False
