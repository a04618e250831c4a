"""Integers of convolutions and pooling beside plain loops, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from convolution_factory import random_convolution
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.conformance import convolution, pooling
from refusals import refused_by

from protonn_edge.features.convolution.integers import IntegerConvolution, packed
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.formulas import arrays_of


@st.composite
def convolutions(draw: st.DrawFn) -> IntegerConvolution:
    """Draw convolutions of every kind."""
    side, padded = draw(st.sampled_from([1, 3, 5])), draw(st.booleans())
    least = 1 if padded else side
    shape = (draw(st.integers(least, 8)), draw(st.integers(least, 8)), draw(st.integers(1, 5)))
    shift = draw(st.sampled_from([8, 8, 11, 15, 16]))
    bits = draw(st.sampled_from([8, 4, 2]))
    return random_convolution(
        draw(st.integers(0, 2**32 - 1)),
        shape,
        draw(st.integers(1, 6)),
        side,
        depthwise=draw(st.booleans()),
        largest=min(15, 2 ** (bits - 1) - 1),
        maximum=draw(st.sampled_from([15, 100, 255])),
        shift=shift,
        stride=draw(st.sampled_from([1, 2])),
        padded=padded,
        weight_bits=bits,
        to_even=shift == 8 and draw(st.booleans()),
    )


@given(convolutions(), st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_any_convolution_gives_what_plain_loops_do(stage: IntegerConvolution, seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = rng.integers(0, stage.input_maximum + 1, (3, stage.n_inputs)).astype(np.uint8)
    images[1][rng.random(stage.n_inputs) < 0.7] = 0
    values = stage.run(images)
    assert values.shape == (3, stage.n_outputs)
    assert values.tolist() == [convolution.reference(stage, image) for image in images.tolist()]
    assert (stage.output.low <= values).all()
    assert (values <= stage.output.high).all()


@given(
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4)),
    st.sampled_from([(1, 1), (2, 2), (3, 2), None]),
    st.sampled_from(["maximum", "average"]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_any_pooling_gives_what_plain_loops_do(
    shape: tuple[int, int, int], window: tuple[int, int] | None, how: str, seed: int
) -> None:
    whole = window is None or window[0] > shape[0] or window[1] > shape[1]
    stage = IntegerPooling(shape, shape[:2] if whole else window, how, 255)  # type: ignore[arg-type]
    images = np.random.default_rng(seed).integers(0, 256, (3, stage.n_inputs)).astype(np.uint8)
    images[2] = 255
    values = stage.run(images)
    assert values.tolist() == [pooling.reference(stage, image) for image in images.tolist()]
    assert (values[2] == 255).all()


def test_every_sum_at_its_bound_is_reached() -> None:
    stage = random_convolution(5, padded=True)
    image = np.zeros((1, stage.n_inputs), np.uint8).reshape(1, *stage.shape)
    image[0, :2, :2] = (stage.weights[1, 1:, 1:] > 0) * stage.input_maximum
    sums = arrays_of(stage.sums, image.reshape(1, -1))
    assert sums[0, 0, 0, 1] == stage.accumulators.high[1]


def test_weights_are_counted_in_their_bits() -> None:
    weights = np.array([1, -1, 0, -2, 1], np.int8)
    assert packed(weights, 8).view(np.int8).tolist() == weights.tolist()
    assert packed(weights, 4).tolist() == [0xF1, 0xE0, 0x01]
    assert packed(weights, 2).tolist() == [0b10_00_11_01, 0b01]
    stage = random_convolution(0, weight_bits=4)
    own, bias = stage.parameters()
    assert (own.nbytes, bias.nbytes) == (stage.weights.size // 2, 2 * len(stage.weights))


@pytest.mark.parametrize(
    "change",
    [
        {"weight_bits": 2},
        {"stride": 3},
        {"bias": np.full(3, 32700)},
        {"shift": 17},
        {"shift": 9, "to_even": True},
        {"shape": (2, 7, 2)},
        {"shape": (6, 7, 4)},
        {"multiplier": 256},
        {"input_maximum": 256},
    ],
)
def test_what_generated_code_cannot_hold_is_refused(change: dict[str, object]) -> None:
    with refused_by("model.integer_stage"):
        replace(random_convolution(1), **change)  # type: ignore[arg-type]
