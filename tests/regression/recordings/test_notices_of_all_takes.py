"""Of equal notices about takes one was kept, and one take without units lost all units."""

from __future__ import annotations

from pathlib import Path

from refusals import refused_by

from protonn_edge.datasets.recorded import read_recording

MARK = "# protonn-edge recording 1; sensor: adxl345; rate: 50 Hz; units: 1/256 g\n"


def write_takes(folder: Path, heads: list[str], marks: int = 0) -> Path:
    """Write takes of two classes, each with one gap in time; the first ones state their units."""
    folder.mkdir()
    times = [20 * i + 500 * (i >= 30) for i in range(60)]
    for number, head in enumerate(heads):
        rows = "".join(f"{time},{(i + number) % 7}\n" for i, time in enumerate(times))
        mark = MARK if number < marks else ""
        (folder / f"{'ab'[number % 2]}.{number}.csv").write_text(f"{mark}time (ms),{head}\n{rows}")
    return folder


def notices(folder: Path) -> dict[str, str]:
    return {each.kind: each.text for each in read_recording(folder).dataset.notices}


def test_gaps_of_all_takes_are_counted(tmp_path: Path) -> None:
    said = notices(write_takes(tmp_path / "takes", ["ax (m/s^2)"] * 4))
    assert said["gaps"].startswith("4 gaps in time;")
    assert "units" not in said


def test_a_take_without_units_is_named(tmp_path: Path) -> None:
    said = notices(write_takes(tmp_path / "takes", ["ax"] * 4, marks=3))
    assert said["units"].startswith("the units of 3 files are ignored, because 1 other file has")
    assert "'b.3.csv'" in said["units"]


def test_a_take_with_another_unit_is_refused(tmp_path: Path) -> None:
    with refused_by("datasets.points"):
        read_recording(write_takes(tmp_path / "takes", ["ax (m/s^2)"] * 3 + ["ax"]))
