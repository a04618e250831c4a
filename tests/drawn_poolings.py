"""Average poolings of images for property tests: any that exist, drawn by Hypothesis."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.features import Features
from protonn_edge.model.shapes import Shape
from protonn_edge.system.errors import InputError


@st.composite
def poolings(draw: st.DrawFn, images: st.SearchStrategy[Shape]) -> Features:
    """Draw average pooling; one is refused only for an area that is too small or too large."""
    image = draw(images)
    shape = draw(st.tuples(*(st.integers(1, side) for side in image)))
    try:
        return average_pooling(image, image, shape)
    except InputError as error:
        assume("average pooling of" not in str(error))
        raise


def areas_of(features: Features) -> Areas:
    """Return the areas of an image, or of its deskewed crop."""
    stage = features.stages[-1]
    assert isinstance(stage, IntegerAveragePooling)
    return stage.pooling
