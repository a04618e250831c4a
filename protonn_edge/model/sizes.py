"""The sizes of a model, and how many bytes it takes by the ProtoNN paper's accounting.

In the paper a value takes 4 bytes, and 4 more for its index where a matrix is stored sparse; a
matrix is stored whichever way is smaller (Gupta et al., 2017, section 5). What a model takes on a
board is another number: `IntegerChain.model_bytes` and the budget gate have it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.remedies import Remedies
from protonn_edge.stages.feature_stage import FeatureStage
from protonn_edge.system.shown import Shown

_VALUE_BYTES = 4
_SHOWN_CLASSES = 5


class Size(NamedTuple):
    """How many there are of something: its name, its symbol in formulas, and the number."""

    name: str
    symbol: str
    number: int


class Sized(Shown, ABC):
    """The sizes of any model, in floats or in integers.

    Its inputs are what a point has, or what a feature stage makes of it.

    Attributes
    ----------
    title : str
        What its kind of classifier is called in sentences.
    remedies : Remedies
        What to train it with where it does not fit.
    """

    title: ClassVar[str]
    remedies: ClassVar[Remedies]

    classes: tuple[str, ...]
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
    def sizes(self) -> tuple[Size, ...]:
        """What it has besides inputs and classes."""
        return ()

    def facts(self) -> dict[str, str]:
        """Return its sizes and classes."""
        names = ", ".join(self.classes[:_SHOWN_CLASSES])
        more = ", ..." if len(self.classes) > _SHOWN_CLASSES else ""
        return {
            "kind": self.title,
            "features": f"{self.n_features:,}",
            "classes": f"{self.n_classes:,} ({names}{more})",
            **{size.name: f"{size.number:,}" for size in self.sizes},
        }

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

    title: ClassVar[str] = "ProtoNN"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("fewer --prototypes", "a smaller --projection-dim"),
        sram="a smaller --projection-dim or fewer classes",
        cycles="a smaller --projection-dim",
        accuracy="more --prototypes or a larger --projection-dim",
    )

    projection: NDArray[Any]
    prototypes: NDArray[Any]
    labels: NDArray[Any]

    @property
    def matrices(self) -> dict[str, NDArray[Any]]:
        """W, B and Z."""
        return {"W": self.projection, "B": self.prototypes, "Z": self.labels}

    @property
    def paper_bytes(self) -> int:
        """What the matrices take as the ProtoNN paper counts; see the module's text."""
        return paper_bytes(self.matrices.values())

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The numbers of projections and prototypes."""
        projections = Size("projections", "d", self.n_projections)
        return projections, Size("prototypes", "m", self.n_prototypes)

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


def paper_bytes(matrices: Iterable[NDArray[Any]]) -> int:
    """Return the sum of ``4 min(1, 2 lambda) size`` over matrices, lambda the non-zero share."""
    stored = (min(matrix.size, 2 * int(np.count_nonzero(matrix))) for matrix in matrices)
    return _VALUE_BYTES * sum(stored)
