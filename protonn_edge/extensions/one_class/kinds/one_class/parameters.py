"""The parameter for training on normal points alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protonn_edge.kinds.protonn.parameters import ProtoNNParameters
from protonn_edge.learn.parameters import parameter

if TYPE_CHECKING:
    from protonn_edge.learn.refusal import Refusal


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

    @classmethod
    def own_refusals(cls) -> Sequence[Refusal]:
        """Return what is refused for one class, too."""
        from protonn_edge.extensions.one_class.kinds.one_class.refusals import REFUSALS

        return (*REFUSALS, *super().own_refusals())
