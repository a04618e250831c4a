"""The sizes of a model, and how many bytes it takes by the ProtoNN paper's accounting.

In the paper a value takes 4 bytes, plus 4 for its index if the matrix is stored sparse; a matrix is
stored whichever way is smaller (Gupta et al., 2017, section 5). The size on a board is different:
see `IntegerChain.model_bytes` and the budget gate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.chain.remedies import Remedies
from protonn_edge.system.facts_repr import FactsRepr

_VALUE_BYTES = 4
_SHOWN_CLASSES = 5


class Size(NamedTuple):
    """A size: its name, its symbol in formulas, and the number."""

    name: str
    symbol: str
    number: int


class Sized(FactsRepr, ABC):
    """The sizes of any model, in floats or in integers.

    Its inputs are the features of a point, or those that a feature stage computes.

    Attributes
    ----------
    title : str
        The name of its kind of classifier in text.
    remedies : Remedies
        What to try in training if it does not fit, whatever its features.
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
    def all_remedies(self) -> Remedies:
        """What to try if it does not fit: those of the feature stage first."""
        stage, own = self.feature_stage, self.remedies
        if stage is None or not stage.smaller:
            return own
        sram = f"{', '.join(stage.smaller)}, or {own.sram}"
        return own._replace(flash=(*stage.smaller, *own.flash), sram=sram)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes other than inputs and classes."""
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
        """Number of features of a point, as sent to the device: at least D."""
        return self.n_inputs if self.feature_stage is None else self.feature_stage.n_features

    @property
    def n_channels(self) -> int | None:
        """Number of interleaved channels in a point; see `FeatureStage`."""
        return None if self.feature_stage is None else self.feature_stage.n_channels


class SizedByMatrices(Sized):
    """The sizes of a model with W (d, D), B (d, m) and Z (L, m), in floats or in integers."""

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
        """Size of the matrices by the ProtoNN paper's accounting; see the module's text."""
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
