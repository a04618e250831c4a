"""The parameters of the paper's optimizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protonn_edge.system.lazy import later
from protonn_edge.training.parameters import TURNS, Choices, MiniBatchParameters, parameter

_alternating = later("protonn_edge.kinds.protonn.paper.train.alternating", "Alternating")

STEP_SIZES = ("inverse", "inverse_sqrt")


@dataclass(kw_only=True, eq=False, repr=False)
class PaperParameters(MiniBatchParameters):
    """The parameters of the paper's optimizer.

    Parameters
    ----------
    optimizer : {"joint", "alternating"}, default="joint"
        "joint" trains all three matrices together with Adam; "alternating" is the paper's
        algorithm, which trains them in turn, without noise, and by default on all points at once if
        there are at most 10,000, else on 1,024 per step.
    iterations : int, default=20
        Alternating optimizer: number of passes over Z, B and W (T in the paper).
    pass_epochs : int, default=20
        Alternating optimizer: epochs of one pass (e in the paper).
    step_sizes : {"inverse_sqrt", "inverse"}, default="inverse_sqrt"
        Alternating optimizer: eta_0 / sqrt(t) with Nesterov's acceleration and tail averaging, as
        on the authors' poster, or eta_0 / t as in the paper.
    """

    optimizer: str = parameter(
        "joint",
        Choices(("joint", "alternating")),
        help="Train W, B and Z together or, as in the ProtoNN paper, alternately.",
        option="--optimizer",
    )
    iterations: int = parameter(20, TURNS, help="Alternating optimizer: passes over Z, B and W.")
    pass_epochs: int = parameter(20, TURNS, help="Alternating optimizer: epochs per pass.")
    step_sizes: str = parameter(
        "inverse_sqrt",
        Choices(STEP_SIZES),
        help="Alternating optimizer: step size ~ 1/t or, with acceleration, 1/sqrt(t).",
    )

    @property
    def other_optimizer(self) -> Any:
        """The alternating optimizer, if it is chosen."""
        return _alternating() if self.optimizer == "alternating" else super().other_optimizer


GROUPS = {"--optimizer": "Training"}
"""The groups of options in the help of `train`."""
