"""The parameters of images, which all kinds of features of images share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from protonn_edge.chain.feature_stage import Shape
from protonn_edge.chain.statistics import common_range
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.cropped_image import shape_text
from protonn_edge.training.feature_parameters import FeatureParameters
from protonn_edge.training.parameters import IMAGE_SHAPE, parameter
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import IN_BLOCKS, SPARSE, Refusal, all_at_once, but


def _without_features(name: str, what: str) -> Refusal:
    return Refusal(
        lambda case: not case.settings.kinds_asked and bool(getattr(case.settings, name)),
        f"the image is to be {what}, but no features are to be computed from it; choose some with "
        "{reduced_shape} or {gradients}",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ImageParameters(FeatureParameters):
    """Parameters of images.

    Parameters
    ----------
    image_shape : tuple of two int, default=None
        Height and width, where the features are the pixels of an image, row by row; a signal is an
        image of height 1.
    cropped_shape : tuple of two int, default=None
        Height and width of the part in the middle of the image that counts; None is all of it.
    deskew : bool, default=False
        Whether images are deskewed before anything is made of them, on the device too: see
        `protonn_edge.features.deskew.deskew`.
    """

    image_shape: Shape | None = parameter(
        None,
        IMAGE_SHAPE,
        None,
        help="Height and width of images whose pixels are the features.",
        option="--image-shape",
        common=True,
    )
    cropped_shape: Shape | None = parameter(
        None,
        IMAGE_SHAPE,
        None,
        help="Use only this much of the image, in its middle.",
        option="--crop",
    )
    deskew: bool = parameter(
        False, "boolean", help="Deskew images first.", option="--deskew/--no-deskew"
    )

    refusals: ClassVar[tuple[Refusal, ...]] = (
        all_at_once("deskew"),
        *but(
            lambda case: case.settings.deskew,
            "{deskew} is True, which needs dense images that fit in memory, but <but>; leave it "
            "out, or train on fewer points",
            SPARSE,
            IN_BLOCKS,
        ),
        _without_features("cropped_shape", "cropped"),
        _without_features("deskew", "deskewed"),
    )

    def _of_shapes(
        self, kind: str, name: str, shapes: Iterable[Shape], **others: Any
    ) -> dict[str, Mapping[str, Any]]:
        """Return the alternatives where images become one of these shapes; none without images."""
        if self.image_shape is None:
            return {}
        return {f"{kind} {shape_text(shape)}": {name: shape, **others} for shape in shapes}

    @property
    def _counted_shape(self) -> Shape:
        """Height and width of what counts of an image; of nothing without one."""
        return self.cropped_shape or self.image_shape or (1, 1)

    def pixel_scale(self, points: Float32, weights: Float32 | None) -> PixelScale | None:
        """Return how pixels become the bytes that slants are measured on; None without deskew."""
        return PixelScale.between(*common_range(points, weights)) if self.deskew else None
