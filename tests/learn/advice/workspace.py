"""A folder with the data, models, projects and exports that people have, each made when needed."""

from __future__ import annotations

import re
import shutil
import wave
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

Make = Callable[[], None]


def flowers() -> None:
    """Write a table of three classes, with persons."""
    rng, lines = np.random.default_rng(1), ["length,width,weight,person,label"]
    for row in range(120):
        kind = row % 3
        a, b, c = rng.normal((2 + kind, 5 - kind, 1 + kind * kind), 0.2).round(2)
        lines.append(f"{a},{b},{c},{('ann', 'bob', 'eve', 'joe')[row // 30]},{'abc'[kind]}")
    Path("flowers.csv").write_text("\n".join(lines) + "\n")


def prices() -> None:
    """Write a table whose label is a number."""
    rng, lines = np.random.default_rng(2), ["size,rooms,age,price"]
    for _ in range(90):
        size, rooms, age = rng.uniform(20, 200), rng.integers(1, 9), rng.uniform(0, 80)
        lines.append(f"{size:.2f},{rooms},{age:.2f},{3 * size + 10 * rooms - age:.2f}")
    Path("prices.csv").write_text("\n".join(lines) + "\n")


def normal() -> None:
    """Write a table of one class."""
    rng = np.random.default_rng(3)
    rows = (",".join(f"{value:.2f}" for value in rng.normal((2, 5, 1), 0.2)) for _ in range(160))
    Path("normal.csv").write_text("a,b,c,label\n" + "".join(f"{row},ok\n" for row in rows))


def images() -> None:
    """Write images of 8 x 8 pixels, brighter on one side or the other."""
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 60, (90, 8, 8)), np.arange(90) % 2
    X[y == 0, :, :4] += 120
    X[y == 1, :, 4:] += 120
    np.savez("images.npz", X=X.astype(np.uint8), y=np.array(["left", "right"])[y])


def tags() -> None:
    """Write points with sets of labels."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    np.savez("tags.npz", X=X, y=(X[:, :3] > 0).astype(int))


def recording() -> None:
    """Write a recording of three channels at 50 Hz, with sessions."""
    rng, lines = np.random.default_rng(6), ["t_ms,ax,ay,az,session,label"]
    for n in range(2400):
        shake = n // 300 % 2
        x, y, z = rng.normal((0, 0, 1), 0.05 + shake * 0.5)
        label = ("rest", "shake")[shake]
        lines.append(f"{20 * n},{x:.3f},{y:.3f},{z:.3f},{'ab'[n // 1200]},{label}")
    Path("recording.csv").write_text("\n".join(lines) + "\n")


def sounds() -> None:
    """Write a folder of takes: beeps of two pitches after silence."""
    rng = np.random.default_rng(7)
    for name, pitch in (("low", 300), ("high", 1500)):
        for take in range(6):
            t = np.arange(8000) / 8000
            sound = np.sin(2 * np.pi * pitch * t) * (t > 0.3) * (t < 0.7) + rng.normal(
                0, 0.003, 8000
            )
            path = Path("sounds", name, f"{take}.wav")
            path.parent.mkdir(parents=True, exist_ok=True)
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", ""))
                file.writeframes((9000 * sound).astype("<i2").tobytes())


def copied(name: str) -> Make:
    """Return what copies a file of the tests' data."""
    return lambda: shutil.copy(_GIVEN[name], name) and None


_TESTS = Path(__file__).parents[2]
_GIVEN = {
    "iris.json": _TESTS / "data/boosters/iris.json",
    "iris.txt": _TESTS / "data/boosters/iris.txt",
    "net.tflite": _TESTS / "data/tflite/har_hapt-mlp.tflite",
    "net.onnx": _TESTS / "data/networks/pytorch-mlp-usps10.onnx",
}
DATA: dict[str, Make] = {
    **{name: copied(name) for name in _GIVEN},
    "flowers.csv": flowers,
    "prices.csv": prices,
    "normal.csv": normal,
    "images.npz": images,
    "tags.npz": tags,
    "recording.csv": recording,
    "sounds": sounds,
}
COMMANDS = {
    "model.npz": "train flowers.csv -o model.npz --drop person --prototypes 6 --epochs 4",
    "linear.npz": "train flowers.csv -o linear.npz --drop person --classifier linear",
    "forest.npz": "train flowers.csv -o forest.npz --drop person --classifier forest",
    "price.npz": "train prices.csv -o price.npz --label price --classifier linear",
    "tagger.npz": "train tags.npz -o tagger.npz --epochs 3 --prototypes 8",
    "picture.npz": "train images.npz -o picture.npz --features pool:4x4 --classifier linear",
    "one.npz": "train normal.csv -o one.npz --one-class",
    "windows.npz": "windows recording.csv -o windows.npz --window 50",
    "shake.npz": "train windows.npz -o shake.npz --features mean,deviation --classifier linear",
    "clips.npz": "windows sounds -o clips.npz --window 4000 --onset 4",
    "beep.npz": "train clips.npz -o beep.npz --features audio:8x8 --classifier linear",
    "project": "build model.npz -o project",
    "live": "build shake.npz -o live --sensor mpu6050 --unit g",
    "logger": "build --sensor a0 --rate 50 -o logger",
    "library": "export model.npz --arduino library",
    "plain": "export model.npz --c plain",
    "results.csv": "hil flowers.csv --project project -o results.csv",
    "certificate.json": "verify project -o certificate.json",
    "matrices": "convert model.npz -o matrices --data flowers.csv",
    "report.html": "report results.csv --project project -o report.html",
}


def command_lines() -> list[str]:
    """Return the lines of ``commands.txt``; those that take long begin with ~."""
    text = (_TESTS / "learn/advice/commands.txt").read_text().partition("\n\n## ")[2]
    lines = text.splitlines()[1:]
    return [line for line in lines if line and not line.startswith("#")]


def make(text: str, run: Callable[[str], object], made: set[str]) -> None:
    """Make everything that a text names, by commands that `run` runs, and what these name."""
    for name in names_in(text):
        if name in made:
            continue
        made.add(name)
        if name in DATA:
            DATA[name]()
        else:
            make(COMMANDS[name].replace(name, ""), run, made)
            run(COMMANDS[name])


def names_in(text: str) -> Iterable[str]:
    """Return the names of what can be made in a text."""
    return [
        name
        for name in (*DATA, *COMMANDS)
        if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text)
    ]
