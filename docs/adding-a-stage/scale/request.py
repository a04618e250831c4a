"""The example in `features`, as "scale:0.99", and the stages that training creates from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from protonn_edge.features.images.train import pixel_scale
from protonn_edge.learn.features import FeatureData, FeatureRequest, only_term, unread
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.model.features import Features
from protonn_edge.model.point_format import PointFormat
from scale.integers import FACTOR_BITS, IntegerScale


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

    def stage_for(self, settings: FeatureParameters, given: FeatureData) -> Features:
        """Return the stage, for raw points with one range."""
        n = given.points.shape[1]
        points = PointFormat(pixel_scale(given).quantizer(), settings.image_shape or (1, n))
        factors = np.floor(self.falloff ** np.arange(n) * ((1 << FACTOR_BITS) - 1))
        return Features(points, (IntegerScale(factors.astype(np.uint8), 255),))
