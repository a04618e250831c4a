"""The parameter for training on normal points alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from protonn_edge.kinds.protonn.parameters import ProtoNNParameters
from protonn_edge.learn.parameters import parameter

if TYPE_CHECKING:
    from protonn_edge.learn.training_request import TrainingRequest


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassProtoNNParameters(ProtoNNParameters):
    """The parameter of a ProtoNN of one class.

    Parameters
    ----------
    one_class : bool, default=False
        Whether to train on normal points only: `fit` takes points of one class, or no targets at
        all, and `calibrate_rejection` chooses the distance from all prototypes beyond which a point
        is unknown. A given `gamma` is then at most what the integers cover. See
        `protonn_edge.extensions.one_class.kinds.one_class.train.target`.
    """

    one_class: bool = parameter(
        False,
        "boolean",
        help="Learn from normal points only; reject others.",
        option="--one-class/--all-classes",
        common=True,
        only="classes devices",
    )

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse what needs other points or an optimizer, if there is one class, too."""
        if self.one_class:
            case.refuse_given(
                case.first_set(
                    "clip " * case.clips + "augment strangers initial_model budget "
                    "sparsity_projection sparsity_prototypes sparsity_labels"
                ),
                "--one-class learns from normal points, without other points or an optimizer",
            )
            case.refuse_without_effect(
                "epochs batch_size learning_rate input_noise quantization_aware trained "
                "gamma_numerator",
                "--one-class trains without an optimizer",
            )
            if case.asked is not None and case.asked.learns_from_classes:
                case.refuse(
                    "--features are learned from several classes, but --one-class is set; leave "
                    "out one of the two"
                )
            if self.projection_starts_from("nca", "sleec"):
                case.refuse(
                    f"--init-projection is {self.init_projection}, which needs several classes, "
                    "but --one-class is set; leave out one of the two"
                )
        super().refuse(case)
