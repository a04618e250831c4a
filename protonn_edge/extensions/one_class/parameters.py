"""The parameter for training on normal points alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protonn_edge.learn.parameters import MiniBatchParameters, parameter


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassParameters(MiniBatchParameters):
    """The parameter of a ProtoNN of one class.

    Parameters
    ----------
    one_class : bool, default=False
        Whether to train on normal points only: `fit` takes points of one class, or no targets at
        all, and `calibrate_rejection` chooses the distance from all prototypes beyond which a point
        is unknown. A given `gamma` is then at most what the integers cover. See
        `protonn_edge.extensions.one_class.train.target`.
    """

    one_class: bool = parameter(
        False,
        "boolean",
        help="Learn from normal points only; reject others.",
        option="--one-class/--all-classes",
        common=True,
        only="classes devices",
    )

    @property
    def target(self) -> Any:
        """The target of the training."""
        if not self.one_class:
            return super().target
        from protonn_edge.extensions.one_class.train.target import OneClass

        return OneClass()
