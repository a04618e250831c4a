"""Average poolings of images for property tests: any that exist, drawn by Hypothesis."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.features import Features
from protonn_edge.model.shapes import Shape
from protonn_edge.system.errors import InputError


@st.composite
def poolings(
    draw: st.DrawFn,
    images: st.SearchStrategy[Shape],
    *,
    crops: bool,
    scales: st.SearchStrategy[PixelScale | None],
) -> Features:
    """Draw average pooling; one is refused only for an area that is too small or too large."""
    image = draw(images)
    cropped = draw(_within(image)) if crops else image
    shape, scale = draw(_within(cropped)), draw(scales)
    try:
        return average_pooling(image, cropped, shape, deskew=scale is not None)
    except InputError as error:
        assume("average pooling of" not in str(error))
        raise


def _within(shape: Shape) -> st.SearchStrategy[Shape]:
    return st.tuples(*(st.integers(1, side) for side in shape))


def areas_of(features: Features) -> Areas:
    """Return the areas of an image, or of its deskewed crop."""
    stage = features.stages[-1]
    assert isinstance(stage, IntegerAveragePooling)
    return stage.pooling
