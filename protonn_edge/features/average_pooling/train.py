"""Averages requested as features: pool:4x4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.features.images.train import pixel_scale
from protonn_edge.learn import features
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.model.features import Features
from protonn_edge.model.shapes import Shape, shape_text
from protonn_edge.model.stored import same

_PIXELS_SEARCHED = (2, 3)  # approximate side of an area


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolingRequest(features.ImageRequest):
    """Averages over areas of an image: `shape` is their number in height and width."""

    kind: ClassVar[str] = IntegerAveragePooling.kind
    word: ClassVar[str] = "pool"
    form: ClassVar[str] = "pool:4x4"

    shape: Shape

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Read the request from its only term."""
        return cls(shape=features.two_of(features.only_term(terms), cls.form), **image)

    @classmethod
    def alternatives(cls, shape: Shape) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield areas of about 2x2 and 3x3 pixels."""
        for n in _PIXELS_SEARCHED:
            areas = tuple(-(-side // n) for side in shape)
            yield f"{cls.word}:{shape_text((areas[0], areas[1]))}", {"clip": 0.0}

    def continues(self, stage: Features | None, settings: FeatureParameters) -> bool:
        """Return whether the initial model pools its images in the same way."""
        if stage is None or settings.image_shape is None:
            return False
        asked = average_pooling(*self.shapes(settings), self.shape, deskew=self.deskew)
        return same(asked.stages, stage.stages)

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> Features:
        """Return average pooling."""
        shapes = *self.shapes(settings), self.shape
        return average_pooling(*shapes, pixel_scale(given), deskew=self.deskew)
