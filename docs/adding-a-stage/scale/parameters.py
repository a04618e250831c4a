"""The example's parameter, and the stage that training makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.chain.statistics import common_range
from protonn_edge.training.feature_parameters import FeatureParameters
from protonn_edge.training.parameters import Number, parameter
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import OTHER_FEATURES, SPARSE, Refusal, but
from scale.stage import Scale


@dataclass(kw_only=True, eq=False, repr=False)
class ScaleParameters(FeatureParameters):
    """The parameter of the example.

    Parameters
    ----------
    falloff : float in [0, 1], default=None
        What each feature is worth of the one before it: samples that are further away tell less.
    """

    falloff: float | None = parameter(
        None,
        Number(float, 0, 1),
        None,
        help="What each feature is worth of the one before it.",
        option="--falloff",
    )

    asked_by: ClassVar[dict[str, str]] = {"scale": "falloff"}
    refusals: ClassVar[tuple[Refusal, ...]] = (
        *but(
            lambda case: "scale" in case.kinds,
            "features are to be scaled, but <but>; leave {falloff} out",
            SPARSE,
            OTHER_FEATURES,
        ),
    )

    def feature_stage_for(self, points: Float32, weights: Float32 | None) -> FeatureStage | None:
        """Return the stage where it is asked for."""
        if self.falloff is None:
            return super().feature_stage_for(points, weights)
        lower, upper, background = common_range(points, weights)
        zero = upper if upper - background < background - lower else lower
        factors = float(self.falloff) ** np.arange(points.shape[1])
        return Scale(tuple(factors.tolist()), zero)
