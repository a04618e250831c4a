"""Numbers with a unit, a key or a time attached were text, and a channel was lost in silence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, succeed
from flower_tables import Write
from refusals import refused_by

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.recorded import read_recording

NOISE = np.random.default_rng(0).normal(0, 9, (60, 2)).round(2)
TAKES = ["ab"[row // 30] for row in range(60)]
LABELS = ["ab"[row % 2] for row in range(60)]


def texts(notices: Sequence[object], word: str) -> list[str]:
    return [str(each) for each in notices if word in str(each)]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("{} g", "followed by ' g'"),
        ("{}g", "followed by 'g'"),
        ("{}%", "followed by '%'"),
        ("{} °C", "followed by ' °C'"),
        ("x:{}", "preceded by 'x:'"),
        ("x={}", "preceded by 'x='"),
        ("[{}", "preceded by '['"),
        ("({})", "preceded by '(' and followed by ')'"),
    ],
)
def test_what_all_numbers_of_a_column_have_is_reported(write: Write, form: str, said: str) -> None:
    rows = [[form.format(x), y, label] for (x, y), label in zip(NOISE, LABELS, strict=True)]
    for header in (["x", "y", "label"], []):
        dataset = load_dataset(write(rows, header))
        assert np.array_equal(dataset.X_train, NOISE.astype(np.float32))
        name = "x" if header or "x" in form else "1"
        title = f"'{name}'" if name == "x" else name
        assert texts(dataset.notices, "numbers in") == [f"numbers in column {title} are {said}"]


def test_cells_with_something_else_attached_are_counted(write: Write) -> None:
    units = ["mg" if row % 10 == 4 else "g" for row in range(60)]
    rows = [
        [f"{x} {unit}", y, label] for (x, y), unit, label in zip(NOISE, units, LABELS, strict=True)
    ]
    path = write(rows, ["x", "y", "label"])
    sentence = refusal(run("train", path, "-o", path.with_name("m.npz")))
    assert f"data.csv:6 has '{NOISE[4, 0]} mg' in column 'x' (such cells: 6 in" in sentence
    assert "but most numbers of the column are followed by ' g'" in sentence
    assert "or leave the column out with --read drop=x" in sentence
    assert load_dataset(path, drop="x").feature_names == ("y",)
    warned = succeed("data", path).stderr
    assert "column 'x' has 6 cells without a number, such as" in warned
    assert "most numbers of the column are followed by ' g'" in warned


def test_a_unit_on_few_numbers_is_refused(write: Write) -> None:
    rows = [[f"{x} g" if row == 5 else x, y, LABELS[row]] for row, (x, y) in enumerate(NOISE)]
    with refused_by("datasets.points"):
        load_dataset(write(rows, ["x", "y", "label"]))


@pytest.mark.parametrize("arrow", [" -> ", " → ", " "])
@pytest.mark.parametrize("header", ["x,y,label\n", ""])
@pytest.mark.parametrize("day", ["", "2024-05-01 "])
def test_times_of_the_serial_monitor_are_a_column_of_their_own(
    tmp_path: Path, arrow: str, header: str, day: str
) -> None:
    rows = [
        f"{day}14:00:0{row // 50}.{row % 50 * 20:03d}{arrow}{x},{y},{TAKES[row]}\n"
        for row, (x, y) in enumerate(NOISE)
    ]
    (tmp_path / "log.csv").write_text(header + "".join(rows), "utf-8")
    recording = read_recording(tmp_path / "log.csv")
    assert np.array_equal(recording.samples, NOISE.astype(np.float32))
    assert recording.rate == 50
    assert not recording.seams.any()


def test_keys_of_the_serial_plotter_name_the_channels(tmp_path: Path) -> None:
    rows = [f"ax:{x},ay:{y},{TAKES[row]}\n" for row, (x, y) in enumerate(NOISE)]
    (tmp_path / "log.csv").write_text("".join(rows))
    recording = read_recording(tmp_path / "log.csv")
    assert recording.channels == ("ax", "ay")
    assert np.array_equal(recording.samples, NOISE.astype(np.float32))


def test_a_semicolon_at_the_end_of_each_line_is_no_delimiter(tmp_path: Path) -> None:
    rows = [f"{TAKES[row]},{x},{y};\n" for row, (x, y) in enumerate(NOISE)]
    (tmp_path / "log.csv").write_text("".join(rows))
    dataset = load_dataset(tmp_path / "log.csv", label=1)
    assert np.array_equal(dataset.X_train, NOISE.astype(np.float32))


@pytest.mark.parametrize("digits", [4, 8])
def test_hexadecimal_counts_are_numbers(write: Write, digits: int) -> None:
    counts = np.random.default_rng(1).integers(0, 4000, 60)
    rows = [[f"0x{x:0{digits}x}", LABELS[row]] for row, x in enumerate(counts)]
    assert load_dataset(write(rows, ["x", "label"])).X_train.ravel().tolist() == counts.tolist()


def test_hexadecimal_counts_of_two_signs_are_refused(write: Write) -> None:
    counts = NOISE[:, 0].astype(np.int64) & 0xFFFF
    rows = [[f"0x{x:04x}", LABELS[row]] for row, x in enumerate(counts)]
    with refused_by("datasets.points"):
        load_dataset(write(rows, ["x", "label"]))


@pytest.mark.parametrize("minus", "\u2212\u2013")
def test_other_minus_signs_are_read(write: Write, minus: str) -> None:
    rows = [
        [f"{x}".replace("-", minus), f"{y}".replace("-", minus), LABELS[row]]
        for row, (x, y) in enumerate(NOISE)
    ]
    dataset = load_dataset(write(rows, ["x", "y", "label"]))
    assert np.array_equal(dataset.X_train, NOISE.astype(np.float32))


@pytest.mark.parametrize("blank", ["\u202f", " ", "_", "'"])
def test_blanks_between_thousands_are_read(write: Write, blank: str) -> None:
    counts = np.random.default_rng(1).integers(1000, 300_000, 60)
    rows = [[f"{x:,}".replace(",", blank), LABELS[row]] for row, x in enumerate(counts)]
    dataset = load_dataset(write(rows, ["x", "label"]), keep="x")
    assert dataset.X_train.ravel().tolist() == counts.tolist()
