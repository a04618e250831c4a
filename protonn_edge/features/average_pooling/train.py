"""The parameters of average pooling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from protonn_edge.chain.feature_stage import FeatureStage, Shape
from protonn_edge.features.average_pooling.pooling import AveragePooling
from protonn_edge.features.images.train import ImageParameters
from protonn_edge.training.parameters import IMAGE_SHAPE, parameter
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import Case, Refusal, but

KIND = AveragePooling.kind

_PIXELS_SEARCHED = (2, 3)  # along each side of an area, about


def _pools_otherwise(case: Case) -> bool:
    asked = case.settings
    if case.model is None or asked.reduced_shape is None:
        return False
    there = case.model.feature_stage
    if not isinstance(there, AveragePooling):
        return True
    shapes = (asked.image_shape, asked.cropped_shape or asked.image_shape, asked.reduced_shape)
    same = shapes == (there.image_shape, there.cropped_shape, there.shape)
    return not same or asked.deskew != (there.deskewed is not None)


_POOLED = Refusal(lambda case: KIND in case.kinds, "images are pooled")


@dataclass(kw_only=True, eq=False, repr=False)
class AveragePoolingParameters(ImageParameters):
    """Parameters of average pooling, beside those of images.

    Parameters
    ----------
    reduced_shape : tuple of two int, default=None
        Height and width of area averages of the image, made before anything else, on the device
        too: see `stages.average_pooling`. The model then has an input for each average, not for
        each pixel.
    """

    reduced_shape: Shape | None = parameter(
        None,
        IMAGE_SHAPE,
        None,
        help="Average an image over this many areas first.",
        option="--average-pooling",
    )

    asked_by: ClassVar[dict[str, str]] = {KIND: "reduced_shape"}
    refusals: ClassVar[tuple[Refusal, ...]] = (
        Refusal(
            _pools_otherwise,
            "the model to start from pools its images differently from {reduced_shape}, "
            "{cropped_shape} and {deskew}; leave them out",
        ),
        Refusal(
            lambda case: (
                case.settings.reduced_shape is not None and case.settings.image_shape is None
            ),
            "{reduced_shape} is {settings.reduced_shape}, but the shape of the image is not "
            "given; give its height and width with {image_shape}",
        ),
        Refusal(
            lambda case: KIND in case.kinds and case.sparse,
            "the images are pooled to averages, but the points are sparse; give dense images",
        ),
        *but(
            lambda case: case.settings.clip > 0 and not case.clips_on,
            "{clip} is {settings.clip:g}, but <but>; leave {clip} out",
            _POOLED,
        ),
        *but(
            lambda case: case.clips_on,
            "the model to start from clips outliers, but <but>; take another one",
            _POOLED,
        ),
        *but(
            lambda case: case.settings.dead_zone > 0,
            "{dead_zone} is {settings.dead_zone:g}, but <but>, and their pixels have none; leave "
            "it, or {reduced_shape}, out",
            _POOLED,
        ),
    )

    def alternatives(self) -> Mapping[str, Mapping[str, Any]]:
        """Add areas of about 2x2 and 3x3 pixels."""
        height, width = self._counted_shape
        shapes = ((-(-height // n), -(-width // n)) for n in _PIXELS_SEARCHED)
        pooled = self._of_shapes(KIND, "reduced_shape", shapes, clip=0.0, dead_zone=0.0)
        return {**super().alternatives(), **pooled}

    def feature_stage_for(self, points: Float32, weights: Float32 | None) -> FeatureStage | None:
        """Return average pooling where it is asked for."""
        if self.reduced_shape is None:
            return super().feature_stage_for(points, weights)
        assert self.image_shape is not None  # or it is refused
        cropped = self.cropped_shape or self.image_shape
        scale = self.pixel_scale(points, weights)
        return AveragePooling(self.image_shape, cropped, self.reduced_shape, scale)
