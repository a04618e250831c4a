"""A battery was taken as the clock; times in front of numbers and short times were texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from protonn_edge.datasets.recorded import Recording, read_recording

X = np.random.default_rng(0).normal(0, 2, (200, 2)).round(2)


def recorded(path: Path, header: str, times: list[str], between: str = ",") -> Recording:
    rows = [
        f"{time}{between}{x},{y},{'ab'[place // 100]}"
        for place, (time, (x, y)) in enumerate(zip(times, X, strict=True))
    ]
    path.write_text("\n".join([header] * bool(header) + rows) + "\n", "utf-8")
    found = read_recording(path)
    assert np.allclose(found.samples, X)
    return found


def test_what_falls_is_no_clock(tmp_path: Path) -> None:
    times = [f"{100 - 0.05 * row:.2f}" for row in range(200)]
    found = recorded(tmp_path / "t.csv", "left,x,y,label", times)
    assert not found.seams.any()
    assert found.rate is None


def test_times_come_before_numbers_of_rows(tmp_path: Path) -> None:
    times = [f"{row},10:00:{row // 50:02}" for row in range(200)]
    assert recorded(tmp_path / "t.csv", "nr,when,x,y,label", times).rate == 50


def test_the_median_of_whole_numbers_may_be_between_two(tmp_path: Path) -> None:
    steps = [19990, 20005] * 99 + [20005]
    times = np.cumsum([5, *steps]).tolist()
    rate = recorded(tmp_path / "t.csv", "foo,x,y,label", list(map(str, times))).rate
    assert rate == pytest.approx(50, rel=0.01)


def test_seconds_since_1970_are_seconds(tmp_path: Path) -> None:
    times = [str(1_714_550_400 + row // 50) for row in range(200)]
    assert recorded(tmp_path / "t.csv", "ts,x,y,label", times).rate == 50


def test_minutes_and_seconds_are_a_time(tmp_path: Path) -> None:
    times = [f"{row // 3000:02}:{row / 50 % 60:04.1f}" for row in range(200)]
    assert recorded(tmp_path / "t.csv", "Zeit,x,y,label", times).rate == pytest.approx(50, rel=0.05)


@pytest.mark.parametrize("header", ["x,y,label", ""])
@pytest.mark.parametrize(
    "form",
    ["[{}] ", "({}) ", "{}: ", "{} - ", "01.05.2024 {} -> ", "[2024-05-01 {}] ", "{} > ", "{} x: "],
)
def test_times_in_front_of_numbers_are_split_off(tmp_path: Path, form: str, header: str) -> None:
    times = [form.format(f"14:00:{row / 50:06.3f}") for row in range(200)]
    assert recorded(tmp_path / "t.csv", header, times, "").rate == 50


@pytest.mark.parametrize("form", ["{} -> ", "[{}] "])
def test_milliseconds_in_front_of_numbers_are_split_off(tmp_path: Path, form: str) -> None:
    times = [form.format(20 * row) for row in range(200)]
    assert recorded(tmp_path / "t.csv", "x,y,label", times, "").rate == 50
