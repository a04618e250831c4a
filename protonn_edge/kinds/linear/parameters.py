"""The parameters of linear classifiers, apart so that help needs no scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.learn.parameters import (
    CLIP,
    PASSES,
    Choices,
    Number,
    SharedParameters,
    parameter,
)
from protonn_edge.learn.training_request import TrainingRequest

NETWORK = "network"
_FITTING = ("auto", "liblinear", "saga")
SOLVERS = (*_FITTING, NETWORK)
_OF_FITTING = f"solver={'|'.join(_FITTING)}"


@dataclass(kw_only=True, eq=False, repr=False)
class LinearParameters(SharedParameters):
    """The parameters for training a linear classifier.

    Parameters
    ----------
    regularization : float, default=1e-4
        Weight of the L1 penalty for normalized features; a larger one makes W sparser. In
        scikit-learn's terms it is ``1 / (n C)`` for n points, so its effect does not depend on
        their number.
    solver : {"auto", "liblinear", "saga", "network"}, default="auto"
        scikit-learn's solvers: liblinear is faster, but only for two classes, and penalizes the
        bias, too. "auto" uses it for two classes, and saga otherwise. "network", only for learned
        convolutions, keeps the last layer of the network with which they were learned, on moved
        images.
    max_iterations : int, default=500
        Maximum number of passes over the points.
    tolerance : float, default=3e-3
        Training stops when a pass changes less than this; see scikit-learn's ``tol``.
    """

    tried_for: ClassVar[frozenset[str]] = frozenset({"class"})

    clip: float | str = CLIP("auto")
    regularization: float = parameter(
        1e-4,
        Number(float, 1e-12, 1e3),
        help="Weight of the L1 penalty; larger values give fewer nonzero weights.",
        option="--regularization",
        only=_OF_FITTING,
    )
    solver: str = parameter(
        "auto",
        Choices(SOLVERS),
        help="scikit-learn's solver, or 'network', which keeps the weights learned "
        "with the convolutions.",
        option="--solver",
        only="classes",
    )
    max_iterations: int = parameter(
        500, PASSES, help="Maximum number of passes over the points.", only=_OF_FITTING
    )
    tolerance: float = parameter(
        3e-3,
        Number(float, 1e-12, 1.0),
        help="Stop when a pass changes the model by less than this (scikit-learn's tol).",
        only=_OF_FITTING,
    )

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse the weights of a network that nothing learns."""
        if self.solver == NETWORK and case.for_floats_alone:
            case.refuse(
                "--solver 'network' is not possible, because no device supports the "
                "--normalization 'l2'; leave it out"
            )
        if self.solver == NETWORK and not case.asks_for("conv"):
            case.refuse(
                "--solver is 'network', which keeps weights that were learned with convolutions, "
                "but --features requests no convolutions; request some, such as conv:8x3,max2, or "
                "choose 'saga'"
            )
