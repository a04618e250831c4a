"""Nobody could choose who is held out for testing; only the seed drew groups."""

from __future__ import annotations

from pathlib import Path

import extension_parts
import numpy as np
import pytest
from command_line import run, run_json, succeed
from flower_tables import Write

PEOPLE = ("anna", "ben", "7")


@pytest.fixture
def points(write: Write) -> Path:
    generator = np.random.default_rng(0)
    rows = [
        [f"{generator.normal(4 * y):.3f}", f"{generator.normal():.3f}", person, "ab"[y]]
        for person in PEOPLE
        for y in (0, 1)
        for _ in range(30 + len(person))
    ]
    return write(rows, ("x", "z", "person", "label"))


@pytest.mark.parametrize("names", ["ben", "7", "anna, 7"])
def test_people_who_are_named_are_held_out(points: Path, tmp_path: Path, names: str) -> None:
    model = tmp_path / "m.npz"
    words = "--classifier", "linear", "--groups", "person", "--holdout", names
    n = sum(2 * (30 + len(name.strip())) for name in names.split(","))
    assert run_json("train", points, "-o", model, *words)["n"] == n
    assert f"held out {n} of these 196 points" in succeed("predict", model, points).stderr


@extension_parts.needs("one_class")
def test_the_normal_points_of_a_person_are_held_out(points: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.npz"
    words = "--one-class", "--normal", "a", "--rejection", "40%"
    words += "--groups", "person", "--holdout", "ben"
    succeed("train", points, "-o", model, *words)
    assert "held out 131 of these 196 points" in succeed("predict", model, points).stderr


@pytest.mark.parametrize(
    ("names", "part"),
    [
        ("annna", "no group of the data; did you mean 'anna'?"),
        ("8,9", "no group of the data; the data has '7', 'anna', 'ben'"),
        ("7,anna,ben", "names all groups"),
        ("anna,", "nor has it names"),
    ],
)
def test_names_that_hold_nobody_out_are_refused(
    points: Path, tmp_path: Path, names: str, part: str
) -> None:
    words = "--classifier", "linear", "--groups", "person", "--holdout", names
    done = run("train", points, "-o", tmp_path / "m.npz", *words)
    assert done.exit_code
    assert part in " ".join(done.stderr.split())
    assert not (tmp_path / "m.npz").exists()


def test_a_class_of_nobody_else_is_refused(points: Path, tmp_path: Path) -> None:
    points.write_text(points.read_text() + "9,9,carl,c\n" * 5)
    words = "--classifier", "linear", "--groups", "person", "--holdout", "carl"
    done = run("train", points, "-o", tmp_path / "m.npz", *words)
    assert "only groups that --holdout names have points of 'c'" in done.stderr
