"""The sizes of a model, and how many bytes it takes by the ProtoNN paper's accounting.

In the paper a value takes 4 bytes, and 4 more for its index where a matrix is stored sparse; a
matrix is stored whichever way is smaller (Gupta et al., 2017, section 5). What a model takes on a
board is another number: `IntegerModel.model_bytes` and the budget gate have it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.stages.feature_stage import FeatureStage

_VALUE_BYTES = 4


class Sized(ABC):
    """The sizes of any model, in floats or in integers.

    Its inputs are what a point has, or what a feature stage makes of it.
    """

    feature_stage: FeatureStage | None = None

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """D, the number of inputs of the first matrix."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """L, the number of classes."""

    @property
    def n_features(self) -> int:
        """What a point has, and what the device is sent for it: at least D."""
        return self.n_inputs if self.feature_stage is None else self.feature_stage.n_features

    @property
    def n_channels(self) -> int | None:
        """Channels that the values of a point are of in turn, if they are; see `FeatureStage`."""
        return None if self.feature_stage is None else self.feature_stage.n_channels


class SizedByMatrices(Sized):
    """The sizes of whatever has W (d, D), B (d, m) and Z (L, m), in floats or in integers."""

    projection: NDArray[Any]
    prototypes: NDArray[Any]
    labels: NDArray[Any]

    @property
    def n_inputs(self) -> int:
        """D, the number of inputs of the projection."""
        return int(self.projection.shape[1])

    @property
    def n_projections(self) -> int:
        """d, the dimension of the projected space."""
        return int(self.projection.shape[0])

    @property
    def n_prototypes(self) -> int:
        """m, the number of prototypes."""
        return int(self.prototypes.shape[1])

    @property
    def n_classes(self) -> int:
        """L, the number of classes."""
        return int(self.labels.shape[0])


def paper_bytes(model: SizedByMatrices) -> int:
    """Return ``4 (S_W + S_B + S_Z)`` with ``S = min(1, 2 lambda) size``, in bytes."""
    return sum(
        _matrix_bytes(matrix) for matrix in (model.projection, model.prototypes, model.labels)
    )


def _matrix_bytes(matrix: NDArray[Any]) -> int:
    stored = min(matrix.size, 2 * int(np.count_nonzero(matrix)))
    return _VALUE_BYTES * stored
