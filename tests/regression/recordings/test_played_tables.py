"""Played tables: channels in another order, other columns, separators, samples without a header."""

from __future__ import annotations

from pathlib import Path

import pytest

from protonn_edge.errors import InputError
from protonn_edge.sensors import PlayedSensor, read_sensor


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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2,3\n4,5,6\n", "walk.csv has no header; write a first row with the names"),
        ("ax,ay,az\n1,2,0.5\n", r"walk.csv:2 has '0.5', which is not a .* own counts \(1/256 g\)"),
        ("ax,ay,az\n1,2,ovf\n", "has 'ovf', which is not a 16-bit whole number; give only the"),
        ("ax,ay,az\n1,2,inf\n", "walk.csv:2 has 'inf', which is not a 16-bit whole number"),
        ("ax,ay,az\n1,2\n", "walk.csv:2 has 2 cells, but the header has 3"),
        ("ax,ay,az\n1,2," + 150_000 * "3" + "\n", "walk.csv:2 has 0 cells, but the header has 3"),
    ],
)
def test_what_cannot_be_played_is_told_with_its_place(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        played(tmp_path, text)


def test_sensors_in_a_list_are_to_be_given_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is 'a0,a1'; give the option once for each sensor"):
        played(tmp_path, "x\n1\n", "a0,a1")
