"""The lines that tell a sketch's author what to send: units, factors and ranges of raw values."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from model_factory import (
    plain_model,
    random_model,
    random_window_model,
    scaled,
    tiny_pooling_model,
    tiny_windows_model,
    window_features_of,
)

from protonn_edge.codegen.context import Sending, as_it_is, factor_text, sendings
from protonn_edge.data.naming import sample_names
from protonn_edge.model.quantization import quantize

OWN_UNIT = "the training data's unit"


def test_each_of_a_few_features_has_a_line_with_its_own_range() -> None:
    """Features are lower..lower + 2, lower by a quarter from -1 on."""
    model = replace(
        quantize(plain_model()),
        raw_exponents=np.array([2, 2, 2, 0, -1, 3, 2, 2]),
        feature_names=tuple("abcdefgh"),
    )
    lines = sendings(model)
    assert [line.features for line in lines] == list("01234567")
    assert [line.name for line in lines] == list("abcdefgh")
    assert lines[1] == Sending("1", "b", "hundredths", "100", -75, 125)
    assert lines[3] == Sending("3", "d", OWN_UNIT, "1", 0, 2)
    assert lines[4] == Sending("4", "e", "tens", "0.1", 0, 0)
    assert lines[5] == Sending("5", "f", "thousandths", "1000", 250, 2250)
    assert not as_it_is(model)


def test_features_that_are_all_alike_have_one_line() -> None:
    for model in (tiny_pooling_model(), tiny_windows_model()):
        (line,) = sendings(model)
        assert (line.features, line.name, line.unit, line.factor) == ("all", "", OWN_UNIT, "1")
        assert as_it_is(model)
    assert (line.low, line.high) == (0, 255)


@pytest.mark.parametrize(("features", "lines"), [(64, 64), (65, 3)])
def test_neighbours_of_one_unit_share_a_line_if_there_are_many(features: int, lines: int) -> None:
    exponents = np.zeros(features, np.int64)
    exponents[10:30] = 2
    names = tuple(f"f{k}" for k in range(features))
    integers = quantize(random_model(features=features))
    model = replace(integers, raw_exponents=exponents, feature_names=names)
    found = sendings(model)
    assert len(found) == lines
    if lines == 3:
        assert [line.features for line in found] == ["0..9", "10..29", f"30..{features - 1}"]
        assert [line.unit for line in found] == [OWN_UNIT, "hundredths", OWN_UNIT]
        assert [line.name for line in found] == ["", "", ""]
        inputs = integers.quantizer
        ends = np.stack([inputs.zero, inputs.zero + inputs.step * inputs.maximum])[:, :10]
        limits = np.floor(ends + 0.5)
        assert (found[0].low, found[0].high) == (limits.min(), limits.max())


def test_the_last_of_many_features_may_have_a_line_of_its_own() -> None:
    exponents = np.zeros(70, np.int64)
    exponents[69] = -1
    names = tuple(f"f{k}" for k in range(70))
    model = replace(
        quantize(random_model(features=70)), raw_exponents=exponents, feature_names=names
    )
    assert [(line.features, line.name) for line in sendings(model)] == [
        ("0..68", ""),
        ("69", "f69"),
    ]


def test_channels_of_windows_have_their_names_and_units() -> None:
    stage = scaled(
        window_features_of("mean,deviation", 20, 3), (-0.5, 0.0, 100.0), (0.004, 1.5, 0.7)
    )
    model = quantize(random_window_model(stage))
    for names in (("x", "y", "z"), None):
        named = replace(model, feature_names=sample_names(names, 20) if names else ())
        lines = sendings(named)
        assert [line.name for line in lines] == list(names or ("", "", ""))
        assert [line.features for line in lines] == ["channel 0", "channel 1", "channel 2"]


@pytest.mark.parametrize(
    ("exponent", "text"), [(0, "1"), (2, "100"), (-3, "0.001"), (-7, "1e-07"), (12, "1e+12")]
)
def test_factors_are_short(exponent: int, text: str) -> None:
    assert factor_text(exponent) == text
