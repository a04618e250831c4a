"""The parameters of sums of gradients by direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from protonn_edge.chain.feature_stage import FeatureStage, Shape
from protonn_edge.chain.statistics import common_range
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.gradients.cells import DIRECTIONS
from protonn_edge.features.gradients.gradients import Gradients
from protonn_edge.features.images.train import ImageParameters
from protonn_edge.training.parameters import IMAGE_SHAPE, Choices, parameter
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import (
    IN_BLOCKS,
    OTHER_FEATURES,
    SPARSE,
    Refusal,
    all_at_once,
    but,
    models_all_at_once,
)

KIND = Gradients.kind

_CELLS_SEARCHED = (4, 5, 3)  # along each side

_SUMMED = Refusal(lambda case: KIND in case.kinds, "gradients are summed")


@dataclass(kw_only=True, eq=False, repr=False)
class GradientParameters(ImageParameters):
    """Parameters of gradients, beside those of images.

    Parameters
    ----------
    gradients : tuple of two int, default=None
        Rows and columns of cells, up to 8 each, over which gradients of the image are summed by
        direction before anything else, on the device too: see `stages.gradients.cells`. The model
        then has an input for each cell and direction, not for each pixel.
    directions : int, default=8
        Of gradients: 8, or 4 that do not tell light from dark.
    """

    gradients: Shape | None = parameter(
        None,
        IMAGE_SHAPE,
        None,
        help="Sum an image's gradients over this many cells first.",
        option="--gradients",
    )
    directions: int = parameter(
        8, Choices(DIRECTIONS), help="Directions of gradients: 8 or 4.", option="--directions"
    )

    asked_by: ClassVar[dict[str, str]] = {KIND: "gradients"}
    refusals: ClassVar[tuple[Refusal, ...]] = (
        all_at_once("gradients"),
        models_all_at_once(KIND, "gradients"),
        Refusal(
            lambda case: case.settings.gradients is not None and case.model is not None,
            "gradients are to be summed in {settings.gradients} cells, but the model to start "
            "from has its own features or none; leave {gradients} out",
        ),
        Refusal(
            lambda case: case.settings.gradients is not None and case.settings.image_shape is None,
            "gradients are to be summed in {settings.gradients} cells, but the shape of the "
            "image is not given; give its height and width with {image_shape}",
        ),
        *but(
            lambda case: KIND in case.kinds,
            "gradients are to be summed, but <but>; leave {gradients} out",
            SPARSE,
            OTHER_FEATURES,
            IN_BLOCKS,
        ),
        *but(
            lambda case: case.settings.clip > 0 and not case.clips_on,
            "{clip} is {settings.clip:g}, but <but>, which become bytes alike; leave {clip} out",
            _SUMMED,
        ),
        *but(
            lambda case: case.clips_on,
            "the model to start from clips outliers, but <but>; take another one",
            _SUMMED,
        ),
    )

    def alternatives(self) -> Mapping[str, Mapping[str, Any]]:
        """Add a few cells a side, and no more than there are pixels."""
        height, width = self._counted_shape
        shapes = ((min(height, n), min(width, n)) for n in _CELLS_SEARCHED)
        return {**super().alternatives(), **self._of_shapes(KIND, "gradients", shapes, clip=0.0)}

    def feature_stage_for(self, points: Float32, weights: Float32 | None) -> FeatureStage | None:
        """Return sums of gradients where they are asked for."""
        if self.gradients is None:
            return super().feature_stage_for(points, weights)
        assert self.image_shape is not None  # or it is refused
        cropped = self.cropped_shape or self.image_shape
        pixels = PixelScale.between(*common_range(points, weights))
        stage = Gradients(
            self.image_shape, cropped, self.gradients, self.directions, pixels, self.deskew
        )
        return stage.fitted(points)
