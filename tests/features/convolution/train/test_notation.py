"""The layers of a network as text."""

from __future__ import annotations

import pytest
from chains import replace
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.features.convolution.train.notation import (
    MOST_CHANNELS,
    MOST_LAYERS,
    ConvolutionLayout,
    PoolingLayout,
    read_layers,
    read_network,
    shapes_of,
)
from protonn_edge.model.shapes import ImageShape
from protonn_edge.system.errors import InputError

CONVOLUTIONS = st.builds(
    ConvolutionLayout,
    st.none() | st.integers(1, MOST_CHANNELS),
    st.sampled_from((1, 3, 5)).map(lambda side: (side, side)),
    st.sampled_from((1, 2)),
    st.booleans(),
)
POOLINGS = st.builds(PoolingLayout, st.booleans(), st.booleans())


@given(
    CONVOLUTIONS,
    st.lists(CONVOLUTIONS | POOLINGS, max_size=MOST_LAYERS - 1),
    st.integers(1, 8),
    st.sampled_from((",", ", ")),
)
def test_layers_are_read_as_they_are_written(first, others, side, comma) -> None:
    layers = (first, *others)
    text = comma.join(map(str, layers))
    assert read_layers(text) == layers
    whole = text if side == 1 else f"average{side}{comma}{text}"
    assert read_network(whole) == (side, layers)
    narrow = tuple(replace(layer, window=(layer.window[0], 1)) for layer in layers)
    assert read_network(whole, signal=True) == (side, narrow)


@given(st.text(alphabet="0123456789xdwp/,maverge ", max_size=30))
def test_any_other_text_is_refused_in_a_sentence(text: str) -> None:
    said = "one sentence"
    try:
        side, layers = read_network(text)
    except InputError as error:
        said = str(error)
    else:
        assert 1 <= side <= 8
        assert layers
    assert "\n" not in said
    assert len(said) < 300


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the layer '' is unknown"),
        ("8x4", "the layer '8x4' is unknown"),
        ("129x3", "the layer '129x3' is unknown"),
        ("8x3/3", "the layer '8x3/3' is"),
        ("max2", "the first layer of a network is max2; begin with"),
        ("average2,max", "the first layer of a network is max; begin with"),
        ("average9", "the layer 'average9' is"),
        (",".join(["2x1"] * 13), "13 layers, expected at most 12"),
    ],
)
def test_what_is_no_network_is_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match="(?s).*") as raised:
        read_network(text)
    assert said in str(raised.value)


def test_shapes_follow_from_layers() -> None:
    layers = read_layers("6x5/2p,dw3,max2,9x1,average")
    assert list(shapes_of(layers, (28, 20, 1))) == [
        (28, 20, 1),
        (14, 10, 6),
        (12, 8, 6),
        (6, 4, 6),
        (6, 4, 9),
        (1, 1, 9),
    ]


def test_windows_keep_their_width() -> None:
    layers = read_layers("6x5/2p,dw3,max2,9x1,average", signal=True)
    shapes = [(100, 1, 3), (50, 1, 6), (48, 1, 6), (24, 1, 6), (24, 1, 9), (1, 1, 9)]
    assert list(shapes_of(layers, (100, 1, 3))) == shapes


@pytest.mark.parametrize("shape", [(8, 12, 1), (8, 1, 3)])
def test_layers_that_leave_nothing_are_refused(shape: ImageShape) -> None:
    layers = read_layers("2x1,max2,4x5", signal=shape[1] == 1)
    with refused_by("features.convolution.train.notation"):
        list(shapes_of(layers, shape))
