"""Units of channels: how much a value is, what is the same, and what is no unit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.data.points.instruments import Instrument, from_arrays, to_arrays
from protonn_edge.data.units import unit_of, units_of, units_text
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sensor_kinds import is_chip


@pytest.mark.parametrize(
    ("text", "quantity", "size"),
    [
        ("g", "acceleration", Fraction(1)),
        ("1/256 g", "acceleration", Fraction(1, 256)),
        ("0.0039 g", "acceleration", Fraction(39, 10_000)),
        ("4mg", "acceleration", Fraction(4, 1000)),
        ("m/s^2", "acceleration", 1 / Fraction("9.80665")),
        ("1/65.5 deg/s", "rotation", Fraction(10, 655)),
        ("1/1023 of the supply voltage", "voltage", Fraction(1, 1023)),
        ("1/10  °C", "°C", Fraction(1, 10)),
        ("ppm", "ppm", Fraction(1)),
    ],
)
def test_a_unit_is_a_symbol_behind_a_number(text: str, quantity: str, size: Fraction) -> None:
    unit = unit_of(text)
    assert (unit.quantity, unit.size) == (quantity, size)


def test_radians_are_converted_to_degrees() -> None:
    assert float(unit_of("rad/s").size) == pytest.approx(180 / np.pi)


@pytest.mark.parametrize(
    "text", ["", " ", "256", "1/0 g", "0 g", "1/256", "g; g\n", "x" * 61, "-3 g", "+g"]
)
def test_what_is_no_unit_is_refused(text: str) -> None:
    with refused_by("data.units"):
        unit_of(text)


@pytest.mark.parametrize("name", ["adxl345", "mpu6050", "bme280", "a3", "microphone"])
def test_units_of_known_sensors_are_read_from_their_text(name) -> None:
    kind = sensor_kind(name)
    units = units_of(kind.units, kind.channels)
    assert tuple(units) == kind.channels
    assert units_text(kind.channels, tuple(units.values())) == kind.units


def test_units_are_those_of_the_channels_named_before_them() -> None:
    units = units_of("ax g; ay az 1/2 g", ("ax", "ay", "az"))
    assert {name: unit.text for name, unit in units.items()} == {
        "ax": "g",
        "ay": "1/2 g",
        "az": "1/2 g",
    }
    assert units_of("g", ("g", "h"))["h"].text == "g"  # a channel may be called as a unit


def test_an_instrument_is_of_the_channels_of_its_sensor() -> None:
    read = Instrument.named("mpu6050", sensor_kind("mpu6050").units, ("gz", "ax"))
    assert [unit.text for unit in read.units] == ["1/65.5 deg/s", "1/8192 g"]
    assert Instrument.named("adxl345", "1/256 g", ("ax", "temperature")) is None
    assert Instrument.named("mpu6050", "ax g", ("ax", "ay")) is None
    assert Instrument.named("own", "1/256 g", ("x", "y")).units == (unit_of("1/256 g"),) * 2
    assert [unit.text for unit in read.of_channels([1, 0, 3]).units] == [
        "1/8192 g",
        "1/65.5 deg/s",
        "1/8192 g",
    ]


@pytest.mark.parametrize(
    ("sensor", "kind", "same"),
    [
        ("adxl345", "adxl345", True),
        ("adxl345", "mpu6050", False),
        ("a0, a1", "a3", True),
        ("microphone", "a0", True),
        ("a0", "adxl345", False),
        ("bno055", "adxl345", False),
    ],
)
def test_analog_inputs_are_one_chip(sensor: str, kind: str, same: bool) -> None:
    assert is_chip(sensor, sensor_kind(kind)) == same


def test_an_instrument_is_read_as_it_was_written() -> None:
    instrument = Instrument("mpu6050", sensor_kind("mpu6050").channel_units)
    assert from_arrays(to_arrays(instrument)) == instrument
    assert from_arrays(to_arrays(None)) is None
    assert from_arrays({"units": np.array("g")}) == Instrument("", (unit_of("g"),))


@pytest.mark.parametrize(
    "arrays",
    [
        {"units": np.array([1.0])},
        {"units": np.array([["g"]])},
        {"units": np.array([], dtype=np.str_)},
        {"units": np.array(["256"])},
        {"units": np.array("g"), "sensor": np.array(["a", "b"])},
        {"units": np.array("g"), "sensor": np.array("x" * 99)},
        {"units": np.array("g"), "sensor": np.array("\x1b[2J")},
    ],
    ids=str,
)
def test_hostile_arrays_are_refused_in_a_sentence(arrays) -> None:
    with refused_by("data.points.instruments", "data.units"):
        from_arrays(arrays)
