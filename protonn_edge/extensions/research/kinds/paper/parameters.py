"""The parameters of the paper's optimizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from protonn_edge.kinds.protonn.parameters import ProtoNNParameters
from protonn_edge.learn.parameters import TURNS, Choices, parameter

if TYPE_CHECKING:
    from protonn_edge.learn.training_request import TrainingRequest

CROSS_ENTROPY = "cross_entropy"
LOSSES = (CROSS_ENTROPY, "squared_error", "hinge", "neighbour_likelihood")
STEP_SIZES = ("inverse", "inverse_sqrt")
_ALTERNATING = "optimizer=alternating"


@dataclass(kw_only=True, eq=False, repr=False)
class PaperProtoNNParameters(ProtoNNParameters):
    """The parameters of the paper's optimizer and losses.

    Parameters
    ----------
    loss : {"cross_entropy", "squared_error", "hinge", "neighbour_likelihood"}
        The loss to minimize. The paper uses the squared error. The cross-entropy, of a softmax over
        the scores or of a sigmoid for each label of a set (plus its Brier score), generalizes
        better and makes the scores logits. The hinge loss compares each class with the rest. The
        likelihood of neighbours, with `trained` ("B",), is stochastic neighbour compression.
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

    loss: str = parameter(
        CROSS_ENTROPY, Choices(LOSSES), help="The loss to minimize.", option="--loss"
    )
    optimizer: str = parameter(
        "joint",
        Choices(("joint", "alternating")),
        help="Train W, B and Z together or, as in the ProtoNN paper, alternately.",
        option="--optimizer",
    )
    iterations: int = parameter(
        20, TURNS, help="Alternating optimizer: passes over Z, B and W.", only=_ALTERNATING
    )
    pass_epochs: int = parameter(
        20, TURNS, help="Alternating optimizer: epochs per pass.", only=_ALTERNATING
    )
    step_sizes: str = parameter(
        "inverse_sqrt",
        Choices(STEP_SIZES),
        help="Alternating optimizer: step size ~ 1/t or, with acceleration, 1/sqrt(t).",
        only=_ALTERNATING,
    )

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse what the optimizer or the loss excludes, too."""
        if self.optimizer != "joint":
            case.refuse_without_effect(
                "epochs learning_rate input_noise quantization_aware",
                "only the joint --optimizer uses it",
            )
            case.refuse_given(
                case.first_set("augment strangers"),
                "the alternating --optimizer takes points as they are",
            )
            if case.in_groups and self.group_shift > 0:
                case.refuse(
                    f"--group-shift is {self.group_shift:g}, but the alternating --optimizer takes "
                    "points as they are; set --group-shift to 0, or leave the groups out"
                )
        if self.loss == "neighbour_likelihood":
            case.refuse_given(
                case.first_set("strangers"),
                "the likelihood of neighbours is not defined for points without a class",
            )
        super().refuse(case)
