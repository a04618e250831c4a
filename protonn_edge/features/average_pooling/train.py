"""Average pooling as features ask for it: "pool:4x4"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from protonn_edge.chain.feature_stage import FeatureStage, Shape
from protonn_edge.features.average_pooling.pooling import AveragePooling
from protonn_edge.features.images.cropped_image import shape_text
from protonn_edge.training.features import ImageRequest, only_term, pixel_scale, two_of
from protonn_edge.training.parameters import FeatureParameters
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import Refusal, but, unclipped

_PIXELS_SEARCHED = (2, 3)  # along each side of an area, about

_POOLED = Refusal(lambda case: AveragePooling.kind in case.kinds, "images are pooled")


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolingRequest(ImageRequest):
    """Averages over areas of an image: `shape` is their number in height and width."""

    kind: ClassVar[str] = AveragePooling.kind
    word: ClassVar[str] = "pool"
    form: ClassVar[str] = "pool:4x4"
    refusals: ClassVar[tuple[Refusal, ...]] = (
        Refusal(
            lambda case: AveragePooling.kind in case.kinds and case.sparse,
            "the images are pooled to averages, but the points are sparse; give dense images",
        ),
        *unclipped(_POOLED),
        *but(
            lambda case: case.settings.dead_zone > 0,
            "{dead_zone} is {settings.dead_zone:g}, but <but>, and their pixels have none; leave "
            "it, or {features}, out",
            _POOLED,
        ),
    )

    shape: Shape

    @property
    def all_at_once(self) -> bool:
        """Whether it needs all points of a training at once."""
        return self.deskew

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Return what the only term asks for."""
        return cls(shape=two_of(only_term(terms), cls.form), **image)

    @classmethod
    def alternatives(cls, shape: Shape) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield areas of about 2x2 and 3x3 pixels."""
        for n in _PIXELS_SEARCHED:
            areas = tuple(-(-side // n) for side in shape)
            yield f"{cls.word}:{shape_text((areas[0], areas[1]))}", {"clip": 0.0, "dead_zone": 0.0}

    def continues(self, stage: FeatureStage | None, settings: FeatureParameters) -> bool:
        """Return whether the model to start from pools its images in the same way."""
        if not isinstance(stage, AveragePooling) or settings.image_shape is None:
            return False
        there = (stage.image_shape, stage.cropped_shape, stage.shape)
        same = (*self.shapes(settings), self.shape) == there
        return same and self.deskew == (stage.deskewed is not None)

    def stage_for(
        self, settings: FeatureParameters, points: Float32, weights: Float32 | None
    ) -> FeatureStage:
        """Return average pooling."""
        scale = pixel_scale(points, weights) if self.deskew else None
        return AveragePooling(*self.shapes(settings), self.shape, scale)
