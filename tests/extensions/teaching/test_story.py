"""The whole story: other people train a model, its owner teaches the board, and it remembers."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run, succeed
from programs import started

pytestmark = needs_emulated_avr

RATE, WINDOW = 50.0, 40
CLASSES = ("down", "level", "up[/]")  # of a hand that waves, in the order of their keys
TAUGHT = 9  # windows, three of each class
LESSONS = ("up[/] 1", "too late")  # how the reply to a key reads, if it teaches a first example


def waved(label: int, turn: float, degrees: float, rng: np.random.Generator) -> np.ndarray:
    """Return counts of an ADXL345 on a hand: how it is held, as a whole, differs between people."""
    t = np.arange(WINDOW) / RATE + rng.uniform(0, 9)
    held = 60 * label + turn + rng.normal(0, 2)
    angle = np.radians(held + degrees * np.sin(2 * np.pi * 1.5 * t))
    g = 256 * np.stack([np.sin(angle), 0 * angle, np.cos(angle)], 1)
    return np.rint(g + rng.normal(0, 6, g.shape)).astype(int)


def windows_of(turn: float, degrees: float, rounds: int, seed: int) -> np.ndarray:
    """Return a person's windows, each class in turn."""
    rng = np.random.default_rng(seed)
    return np.array([waved(label, turn, degrees, rng) for _ in range(rounds) for label in range(3)])


def recording(path: Path, windows: np.ndarray) -> str:
    """Write what an emulated sensor plays; return the option for it."""
    rows = "\n".join(",".join(map(str, row)) for row in windows.reshape(-1, 3).tolist())
    path.write_text(f"# rate: {RATE} Hz\nax,ay,az\n{rows}\n")
    return f"adxl345={path}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the firmware of a model that six people trained."""
    folder, rng = tmp_path_factory.mktemp("story"), np.random.default_rng(0)
    people = [(rng.uniform(-15, 15), rng.uniform(5, 25)) for _ in range(6)]
    windows = [windows_of(*person, rounds=20, seed=seed) for seed, person in enumerate(people)]
    np.savez(
        folder / "windows.npz",
        X_train=np.concatenate(windows),
        y_train=np.array(CLASSES * 120),
        channel_names=np.array(["ax", "ay", "az"]),
        sensor="adxl345",
        units="1/256 g",
    )
    groups = folder / "people.txt"
    groups.write_text("".join(f"{person}\n" * 60 for person in range(6)))
    features = ["--features", "mean,deviation", "--sample-rate", f"{RATE}", "--epochs", 30]
    features += ["--holdout", 0]  # people are few
    size = ["--projection-dim", 5, "--prototypes", 9]
    teachable = ["--teachable", 12, "--groups", groups]
    model = folder / "taught.npz"
    succeed("train", folder / "windows.npz", "-o", model, *features, *size, *teachable)
    succeed("build", model, "--sensor", "adxl345", "-o", folder / "taught")
    return folder


OWNER = windows_of(turn=-36, degrees=12, rounds=13, seed=99)


TRUTH = CLASSES * (len(OWNER) // 3)


def monitored(project: Path, place: Path, *words: object, **more: Any) -> list[dict[str, Any]]:
    """Return what `monitor` prints of the owner's windows, on a board with an EEPROM."""
    sensor, seconds = recording(place / "owner.csv", OWNER), len(OWNER) * WINDOW / RATE
    given = ["--emulate", "--project", project, "--sensor", sensor, "--seconds", seconds]
    done = run("monitor", *given, "--eeprom", place / "eeprom", "--json", *words, **more)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def accuracy(records: list[dict[str, Any]]) -> float:
    """Return how many of the windows that nobody labels have the right class."""
    found = [record["class"] for record in records]
    assert len(found) >= len(TRUTH)  # the sensor begins anew before the board is stopped
    return float(np.mean([a == b for a, b in zip(found, TRUTH, strict=False)][TAUGHT:]))


def test_the_owner_teaches_three_examples_of_each_class_and_the_power_is_cut(
    folder: Path, tmp_path: Path
) -> None:
    project, keys = folder / "taught", [1 + CLASSES.index(name) for name in TRUTH[:TAUGHT]]
    assert accuracy(monitored(project, tmp_path)) < 0.5
    told = monitored(project, tmp_path, "--teach", stdin="".join(f"{key}\n" for key in keys))
    lessons = [each for each in told if "lesson" in each]
    said = [(lesson["lesson"], lesson["class"]) for lesson in lessons]
    assert said == [("taught", name) for name in TRUTH[:TAUGHT]]
    assert sum(lessons[0]["examples"].values()) == 1
    assert lessons[-1]["examples"] == dict.fromkeys(CLASSES, 3)
    assert not any(lesson["same_moment"] for lesson in lessons)
    assert accuracy(monitored(project, tmp_path)) > 0.9  # on a board that was started anew


def test_examples_of_one_moment_are_warned_about_and_forgotten_by_a_key(
    folder: Path, tmp_path: Path
) -> None:
    words = ["monitor", "--teach", "--emulate", "--project", folder / "taught", "--seconds", 6]
    sensor = recording(tmp_path / "owner.csv", OWNER)
    keys = "1\n1\n2\nx\n\n-1\n"
    done = run(*words, "--sensor", sensor, stdin=keys)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[1].startswith(
        "keys: 1 down, 2 level, 3 up[/]; to forget the examples of a class, press - before its key"
    )
    assert [line for line in lines if line.startswith(("taught", "forgotten"))] == [
        "taught down: down 1, level 0, up[/] 0",
        "taught down: down 2, level 0, up[/] 0",
        "taught level: down 2, level 1, up[/] 0",
        "forgotten down: down 0, level 1, up[/] 0",
    ]
    warnings = [line for line in done.stderr.splitlines() if "moment" in line or "key" in line]
    assert len(warnings) == 2
    assert warnings[0].startswith("warning: this example of down is from the same moment as anoth")
    assert warnings[1] == "'x' is not the key of a class; press one of the keys 1, 2, 3"


def test_keys_of_a_terminal_label_windows_as_they_come(folder: Path, tmp_path: Path) -> None:
    sensor = recording(tmp_path / "owner.csv", OWNER)
    words = ["--emulate", "--project", folder / "taught", "--sensor", sensor]
    command = [sys.executable, "-m", "protonn_edge", "monitor", "--teach", *map(str, words)]
    terminal, end = pty.openpty()
    try:
        with started(*command, stdin=end, stdout=end) as monitor:
            os.close(end)
            assert "keys: 1 down" in shown_until(terminal, "score")
            os.write(terminal, b"3")
            # On a busy computer, the board may have classified the next window before the key came.
            while "too late" in (shown := shown_until(terminal, *LESSONS)):
                os.write(terminal, b"3")
            assert "taught up[/]: down 0, level 0, up[/] 1" in shown
            os.write(terminal, b"q")
            assert "1 window in" in shown_until(terminal, "damaged")
            assert monitor.wait(60) == 0
    finally:
        os.close(terminal)


def shown_until(terminal: int, *words: str) -> str:
    """Return what a terminal shows, up to some words, whichever come first."""
    shown, deadline = "", time.monotonic() + 120
    while not any(each in shown for each in words):
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 1.0)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown
