"""The powers of ten in which a sketch passes measurements as whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.model.raw_inputs import (
    MANY_DECIMALS,
    choose_exponents,
    decimals_of,
    decimals_of_ranges,
    in_raw_units,
    unit_words,
)


@pytest.mark.parametrize(
    ("numbers", "decimals"),
    [
        ([1, 2, 300], 0),
        ([0.1, 0.2, 1.3], 1),
        ([32767.9], 1),
        ([0.25, 1], 2),
        ([1e-6], 6),
        ([0.123456], 6),
        ([0.1234567], MANY_DECIMALS),
        ([1 / 3], MANY_DECIMALS),
        ([123456.7], MANY_DECIMALS),  # float32 has no such tenth
    ],
)
def test_decimals_are_counted_though_float32_has_rounded_them(numbers, decimals) -> None:
    points = np.array(numbers, np.float32)[:, None]
    assert decimals_of(points, 1).tolist() == [decimals]


def test_interleaved_features_have_decimals_of_their_own() -> None:
    points = np.array([[1, 0.5, 0.25, 2, 1.5, 0.1], [3, 0.25, 1 / 3, 4, 2, 1]])
    assert decimals_of(points, 3).tolist() == [0, 2, MANY_DECIMALS]


def test_decimals_of_the_last_point_of_many_count() -> None:
    points = np.zeros((1_050_000, 1))
    points[0] = 0.1
    points[-1] = 0.25
    assert decimals_of(points, 1).tolist() == [2]


@pytest.mark.parametrize(
    ("lower", "upper", "decimals", "exponent"),
    [
        (0, 255, 0, 0),
        (-32768, 32767, 0, 0),  # an ADC's numbers stay as they are, without a margin
        (0, 32768, 0, -1),
        (-32769, 0, 0, -1),
        (0, 1e6, 0, -2),
        (5, 5, 2, 2),
        (-2, 2, 3, 3),
        (-2, 2, MANY_DECIMALS, 4),  # as many as fit
        (0, 2621.3, 1, 1),  # a quarter more is 32,766 tenths
        (0, 2621.4, 1, 0),  # or 32,767.5
        (-2621.4, 0, 1, 0),
        (100, 255, MANY_DECIMALS, 2),
        (0, 65_535, 0, -1),
        (0.05263, 0.1634, MANY_DECIMALS, 5),
        (0, 1e9, 3, -5),
        (0, 1e-9, MANY_DECIMALS, 13),
    ],
)
def test_exponents_keep_decimals_as_far_as_16_bits_hold_a_wider_range(
    lower: float, upper: float, decimals: int, exponent: int
) -> None:
    ends = np.array([lower], float), np.array([upper], float)
    assert choose_exponents(*ends, np.array([decimals])).tolist() == [exponent]


def test_without_data_only_whole_ends_are_whole_numbers() -> None:
    lower, upper = np.array([0.0, 0.0, 0.5]), np.array([9.0, 9.5, 9.0])
    assert decimals_of_ranges(lower, upper).tolist() == [0, MANY_DECIMALS, MANY_DECIMALS]


def test_raw_units_are_powers_of_ten() -> None:
    values = np.array([[5.13, 5.13, 5130.0]])
    assert in_raw_units(values, np.array([1, 0, -2])).tolist() == [[51.3, 5.13, 51.3]]
    assert [unit_words(k) for k in (1, 0, -3, 7)] == ["tenths", "", "thousands", "units of 1e-7"]
