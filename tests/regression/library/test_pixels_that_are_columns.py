"""A report called the columns of a table pixels, since a converted network has layers of images."""

from __future__ import annotations

import pytest
from int8_factory import whole_window

from protonn_edge.codegen.export.own_sketch import _feature
from protonn_edge.features.convolution.making import layered


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((1, 1, 46), "listed under this number in the library's README"),
        ((4, 3, 2), "channel i % 2 of pixel i / 2 of an image, row by row"),
        ((4, 3, 1), "pixel i of an image, row by row"),
        ((9, 1, 2), "channel i % 2 of sample i / 2 of a window"),
    ],
)
def test_a_feature_has_the_name_of_its_data(shape: tuple[int, int, int], words: str) -> None:
    assert _feature(layered((whole_window(0, shape, 3),))) == words
