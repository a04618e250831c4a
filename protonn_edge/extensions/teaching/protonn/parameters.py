"""The parameters for training a model that can be taught, and teaching a fitted classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import ArrayLike

from protonn_edge.extensions.teaching import MOST_SLOTS
from protonn_edge.learn.parameters import MiniBatchParameters, Number, parameter


@dataclass(kw_only=True, eq=False, repr=False)
class TeachingParameters(MiniBatchParameters):
    """The parameters of a ProtoNN that a device's owner teaches.

    Parameters
    ----------
    teachable : int in [0, 252], default=0
        Maximum number of examples that the device may be taught, in its EEPROM; see
        `protonn_edge.extensions.teaching`.
    new_classes : int, default=0
        Number of additional classes, "new 1" and so on, which only the device is taught. With
        them, W also separates the groups and is not trained, and gamma is 5/3 as large.
    """

    teachable: int = parameter(
        0,
        Number(int, 0, MOST_SLOTS - 2),
        help="Maximum number of examples that users can add on the board, in EEPROM.",
        option="--teachable",
        common=True,
        only="classes devices",
    )
    new_classes: int = parameter(
        0,
        Number(int, 0, MOST_SLOTS - 2),
        help="With --teachable: number of additional classes, which are learned only by teaching "
        "the board. Training then leaves W at its initial value.",
        option="--new-classes",
        only="classes",
    )

    def frozen(self, **changed: Any) -> Self:
        """Return an immutable copy; a model to start from loses its new classes."""
        start = changed.get("initial_model", getattr(self, "initial_model", None))
        if start is not None:
            from protonn_edge.extensions.teaching.protonn.model import without_new_classes

            changed["initial_model"] = without_new_classes(start)
        return super().frozen(**changed)

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
        from protonn_edge.extensions.teaching.board import taught_board

        classifier: Any = self
        classifier.on_device_ = taught_board(classifier, X, y)
        return self
