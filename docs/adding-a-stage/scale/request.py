"""The example in `features`, as "scale:0.99", and the stage that training creates from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.chain.statistics import common_range
from protonn_edge.training.features import FeatureData, FeatureRequest, only_term, unread
from protonn_edge.training.parameters import FeatureParameters
from scale.stage import Scale


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaleRequest(FeatureRequest):
    """The factor from each feature to the next, so that later samples count less."""

    kind: ClassVar[str] = "scale"
    word: ClassVar[str] = "scale"
    form: ClassVar[str] = "scale:0.99"

    falloff: float

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Return the request in the only term."""
        term = only_term(terms)
        try:
            return cls(falloff=float(term.partition(":")[2]), **image)
        except ValueError:
            raise unread(term, f"must look like {cls.form}") from None

    def stage_for(self, settings: FeatureParameters, given: FeatureData) -> FeatureStage:  # noqa: ARG002
        """Return the stage."""
        lower, upper, background = common_range(given.points, given.weights)
        zero = upper if upper - background < background - lower else lower
        factors = self.falloff ** np.arange(given.points.shape[1])
        return Scale(tuple(factors.tolist()), zero)
