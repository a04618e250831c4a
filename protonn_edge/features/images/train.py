"""What features of images cannot be combined with."""

from __future__ import annotations

from protonn_edge.training.features import ImageRequest
from protonn_edge.training.refusals import IN_BLOCKS, SPARSE, Case, Refusal, but


def _deskewed(case: Case) -> bool:
    return isinstance(case.asked, ImageRequest) and case.asked.deskew


IMAGES: tuple[Refusal, ...] = (
    *but(
        _deskewed,
        "images are to be deskewed, which needs dense images that fit in memory, but <but>; leave "
        "deskew out, or train on fewer points",
        SPARSE,
        IN_BLOCKS,
    ),
    Refusal(
        lambda case: type(case.asked) is ImageRequest,
        "{features} is {settings.features}, but no features are to be computed from the image; "
        "add some, such as pool:4x4 or gradients:4x4",
    ),
    Refusal(
        lambda case: (
            case.asked is not None and case.asked.of_images and case.settings.image_shape is None
        ),
        "{features} is {settings.features}, but the shape of the image is not given; give its "
        "height and width with {image_shape}",
    ),
)
