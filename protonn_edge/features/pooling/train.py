"""Averages of images or windows requested as features: pool:4x4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from protonn_edge.features.images.train import pixel_scale
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.features.pooling.making import average_pooling, averages_of_windows
from protonn_edge.learn import features
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.model.features import Features
from protonn_edge.model.shapes import Shape, shape_text
from protonn_edge.model.stored import same

_PIXELS_SEARCHED = (2, 3)  # approximate side of an area
_AVERAGES = 16  # of each channel of a window


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolingRequest(features.ImageRequest):
    """Averages over areas of an image: `shape` is their number in height and width.

    Of a window, height and width are its samples and channels.
    """

    kind: ClassVar[str] = IntegerAveragePooling.kind
    word: ClassVar[str] = "pool"
    form: ClassVar[str] = "pool:4x4"
    of_samples: ClassVar[bool] = True
    shape: Shape

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse windows that are to be straightened."""
        if self.deskew and case.settings.window_shape is not None:
            case.refuse_given(
                "deskew", "it straightens images, and the points are windows of samples"
            )

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

    @classmethod
    def of_windows(cls, shape: Shape) -> Iterator[str]:
        """Yield 16 averages of each channel, if a window has more samples."""
        if shape[0] > _AVERAGES:
            yield f"{cls.word}:{shape_text((_AVERAGES, shape[1]))}"

    def continues(self, stage: Features | None, settings: FeatureParameters) -> bool:
        """Return whether the initial model pools its images in the same way."""
        if stage is None or settings.image_shape is None:
            return False
        asked = average_pooling(*self.shapes(settings), self.shape, deskew=self.deskew)
        return same(asked.stages, stage.stages)

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> Features:
        """Return average pooling."""
        shapes = *self.shapes(settings), self.shape
        if settings.window_shape is not None:
            return averages_of_windows(given.points, *shapes, settings.sample_rate)
        return average_pooling(*shapes, pixel_scale(given), deskew=self.deskew)
