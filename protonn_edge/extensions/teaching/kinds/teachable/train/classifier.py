"""A ProtoNN that users teach as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from numpy.typing import ArrayLike

from protonn_edge.extensions.teaching.board import taught_board
from protonn_edge.extensions.teaching.kinds.teachable.train.learner import TeachableProtoNNLearner
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class TeachableProtoNNClassifier(TeachableProtoNNLearner, ProtoNNClassifier):
    """ProtoNN that a device's owner teaches; see `ProtoNNClassifier`."""

    def partial_teach(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Teach examples to a fitted classifier, as a device's owner would teach the device.

        Afterwards, scores and answers are those of a device with these examples, computed in
        integers. The model and `to_model` stay unchanged; `fit` forgets them.

        Parameters
        ----------
        X : array of shape (n, D)
            Raw features.
        y : array of shape (n,)
            Labels, of the classes of training.

        Returns
        -------
        ProtoNNClassifier
            This estimator.

        Raises
        ------
        ValueError
            If X or y are unusable, or the classifier was trained without room for examples
            (`teachable`).
        """
        self.on_device_ = taught_board(self, X, y)
        return self
