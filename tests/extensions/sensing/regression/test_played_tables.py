"""Played tables: channels in another order, other columns, separators, samples without a header."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.extensions.sensing.played import PlayedSensor, read_sensor


def played(folder: Path, text: str, name: str = "adxl345") -> PlayedSensor:
    path = folder / "walk.csv"
    path.write_bytes(text.encode())
    return read_sensor(f"{name}={path},rate=50")


@pytest.mark.parametrize(
    "text",
    [
        "az,ay,ax\n3,2,1\n",
        "ms,ax,ay,az\n0,1,2,3\n",
        "Gesture,ax,ay,az\nwave,1,2,3\n",
        "AX, ay ,az\n1.0,2.0,3e0\n",
        "\ufeffax;ay;az\r\n1;2;3\r\n",
        "ax\tay\taz\n1\t2\t3\n",
        "Label,x,y,z\nwave,1,2,3\n",
    ],
)
def test_channels_are_found_in_a_table_as_people_have_it(tmp_path: Path, text: str) -> None:
    assert played(tmp_path, text).values.tolist() == [[1, 2, 3]]


def test_columns_of_analog_inputs_are_taken_as_they_come(tmp_path: Path) -> None:
    assert played(tmp_path, "a0,a1\n1,2\n", "a0").values.tolist() == [[1, 2]]


def test_a_rate_may_be_written_large(tmp_path: Path) -> None:
    path = tmp_path / "walk.csv"
    path.write_text("# Rate: 12.5 Hz\nx\n1\n")
    assert read_sensor(f"a0={path}").rate == 12.5


def test_a_unit_in_the_header_is_converted_as_build_converts_it(tmp_path: Path) -> None:
    """Decimals of a phone were refused, though 'build' converts the same header."""
    text = "time (s),ax (m/s^2),ay (g),az (mg)\n0.00,9.80665,-0.5,250\n0.02,0,0.001,0\n"
    sensor = played(tmp_path, text)
    assert sensor.values.tolist() == [[256, -128, 64], [0, 0, 0]]
    assert sensor.remarks == ()


def test_beyond_its_range_a_sensor_returns_the_end_of_it(tmp_path: Path) -> None:
    sensor = played(tmp_path, "ax (g),ay (g),az (g)\n200,-200,1\n1,1,1\n")
    assert sensor.values[0].tolist() == [sensor.kind.high, sensor.kind.low, 256]
    assert [remark.split(" are beyond")[0] for remark in sensor.remarks] == [
        f"1 of 2 values of {name} in {tmp_path / 'walk.csv'}" for name in ("ax", "ay")
    ]


def test_a_channel_without_a_column_is_0_and_said_to_be(tmp_path: Path) -> None:
    sensor = played(tmp_path, "ax (g),ay (g),az (g)\n1,0,-1\n", "mpu6050")
    assert sensor.values.tolist() == [[8192, 0, -8192, 0, 0, 0]]
    (remark,) = sensor.remarks
    assert remark.endswith("walk.csv lacks gx, gy, gz: mpu6050 returns 0 for these")


@pytest.mark.parametrize("unit", ["raw", "LSB", "counts", ""])
def test_a_unit_that_is_not_known_is_that_of_counts(tmp_path: Path, unit: str) -> None:
    text = f"ax ({unit}),ay ({unit}),az ({unit})\n1,2,3\n"
    assert played(tmp_path, text).values.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("ax (deg/s),ay,az\n1,2,3\n", "column 'ax' is in deg/s"),
        ("ax (g),ay,az\n1,2,1\n1,2,0.5\n", "walk.csv:3 has '0.5'"),
        ("ax (g),ay,az\nnan,2,1\n", "walk.csv:2 has 'nan' as ax"),
        ("ax (g),ay,az\n2,x,1\n", "walk.csv:2 has 'x'"),
        ("ax,ay,az\n1,2,0.5\n", "walk.csv:2 has '0.5'"),
        ("1,2,3\n4,5,6\n", "walk.csv: no header"),
        ("ax,ay,az\n1,2,ovf\n", "walk.csv:2 has 'ovf'"),
        ("ax,ay,az\n1,2,inf\n", "walk.csv:2 has 'inf'"),
        ("ax,ay,az\n1,2\n", "walk.csv:2: 2 cells, expected 3"),
        ("ax,ay,az\n1,2," + 150000 * "3" + "\n", "walk.csv:2"),
    ],
)
def test_what_cannot_be_played_is_told_with_its_place(
    tmp_path: Path, text: str, place: str
) -> None:
    with refused_by("extensions.sensing.played", naming=place):
        played(tmp_path, text)


def test_sensors_in_a_list_are_to_be_given_apart(tmp_path: Path) -> None:
    with refused_by("extensions.sensing.described"):
        played(tmp_path, "x\n1\n", "a0,a1")
