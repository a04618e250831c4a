"""Recordings whose first line or names were wrong, without a word."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json

HEAD = "# protonn-edge recording {}; sensor: mpu6050; rate: {} Hz; units: counts\n"


def _samples(*, step: float | None = None) -> str:
    rng = np.random.default_rng(0)
    names = ["ax", "ay"] if step is None else ["time", "ax", "ay"]
    rows = [
        [*([] if step is None else [f"{row * step:.3f}"]), *map(str, rng.integers(0, 99, 2))]
        for row in range(60)
    ]
    return "".join(",".join(each) + "\n" for each in [names, *rows])


def _recording(path: Path, *, version: int = 1, rate: int = 50, step: float = 0.02) -> Path:
    lines = _samples(step=step).splitlines()
    labels = ["label", *(("rest", "wave")[row // 30] for row in range(60))]
    rows = (f"{label},{line}" for label, line in zip(labels, lines, strict=True))
    path.write_text(HEAD.format(version, rate) + "\n".join(rows) + "\n")
    return path


def _cut(path: Path, folder: Path) -> dict[str, list[str]]:
    record = run_json("windows", path, "-o", folder / "windows.npz", "--window", 8)
    notices: dict[str, list[str]] = {}
    for each in record["notices"]:
        notices.setdefault(each["kind"], []).append(each["text"])
    return notices


def test_times_that_contradict_the_first_line_are_reported(tmp_path: Path) -> None:
    path = _recording(tmp_path / "rec.csv", rate=100)
    (text,) = _cut(path, tmp_path)["rate"]
    assert "100 samples a second" in text
    assert "give 50" in text


def test_times_that_agree_with_the_first_line_are_not_reported(tmp_path: Path) -> None:
    assert "rate" not in _cut(_recording(tmp_path / "rec.csv"), tmp_path)


def test_a_recording_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = _recording(tmp_path / "rec.csv", version=2)
    done = run("windows", path, "-o", tmp_path / "windows.npz", "--window", 8)
    assert "version 2" in refusal(done)


@pytest.mark.parametrize(
    "names",
    [
        ("rest (1)", "rest (2)", "walk"),
        ("rest", "rest - Copy", "walk"),
        ("2024-01-01_rest", "2024-01-02_rest", "2024-01-01_walk"),
        ("20240101T101112 rest", "20240102T111213 rest", "20240101T090000 walk"),
    ],
)
def test_copies_of_a_take_are_hardly_classes(tmp_path: Path, names: tuple[str, ...]) -> None:
    folder = tmp_path / "takes"
    folder.mkdir()
    for name in names:
        (folder / f"{name}.csv").write_text(_samples())
    assert any("takes of the same" in text for text in _cut(folder, tmp_path)["names"])


@pytest.mark.parametrize("names", [("rest", "walk"), ("1", "2", "3"), ("2024-01-01", "2024-01-02")])
def test_a_file_for_each_class_is_usual(tmp_path: Path, names: tuple[str, ...]) -> None:
    folder = tmp_path / "takes"
    folder.mkdir()
    for name in names:
        (folder / f"{name}.csv").write_text(_samples())
    assert "names" not in _cut(folder, tmp_path)


def test_folders_in_two_forms_of_unicode_are_one_class(tmp_path: Path) -> None:
    for name in ("café", unicodedata.normalize("NFD", "café"), "thé"):
        (tmp_path / "takes" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "takes" / name / "1.csv").write_text(_samples())
    _cut(tmp_path / "takes", tmp_path)
    with np.load(tmp_path / "windows.npz") as arrays:
        assert arrays["class_names"].tolist() == ["café", "thé"]
