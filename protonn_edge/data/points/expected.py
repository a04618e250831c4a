"""What a model requires of a table, or a training part of its test part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from protonn_edge.data.points.dataset import Table
    from protonn_edge.data.points.division import Division
    from protonn_edge.data.points.instruments import Converter, Instrument
    from protonn_edge.data.points.preparation import Preparation

_SAME_RATE = 0.05  # maximum relative difference of a recording's rate from the model's


@dataclass(frozen=True)
class Expected:
    """The requirements of a model for a table, or of a training part for its test part.

    Its D features and classes, whether points need labels (ignored otherwise), the preparation of
    its columns, the division of its training file, and the instrument and the rate of windows, if
    known.
    """

    n_features: int
    feature_names: tuple[str, ...] = ()
    classes: Sequence[str] = ()
    instrument: Instrument | None = None
    labelled: bool = True
    preparation: Preparation | None = None
    division: Division | None = None
    sample_rate: float | None = None
    predicts: str = "class"  # what labels are: "class", "value", a number, or "labels", a set
    # the ends (D,) of the range of the training data; None if values outside are not clamped, or on
    # purpose
    limits: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    # returns points (n, D) of another instrument in the unit of the training data, with notices;
    # None if a board with this instrument does not convert them
    converted: Converter | None = None

    @classmethod
    def of_training(cls, train: Table) -> Self:
        """Return the requirements of a training part for its test part."""
        return cls(
            train.X.shape[1],
            train.feature_names,
            sorted(train.labels.used),
            preparation=train.preparation,
        )

    @property
    def label(self) -> str:
        """The column of labels of the training file; empty if unknown."""
        return "" if self.division is None else self.division.label


def is_same_rate(rate: float | None, wanted: float | None) -> bool:
    """Return whether data at this sampling rate suits a model of another one; unknown rates do."""
    return not rate or not wanted or abs(rate - wanted) <= _SAME_RATE * rate
