"""Data as people have them: seven kinds, made by formulas, in the layouts of apps and corpora."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

PHONE = '"Time (s)","Acceleration x (m/s^2)","Acceleration y (m/s^2)","Acceleration z (m/s^2)"'
MOTIONS = {"wave": (2.2, 6.0), "circle": (1.0, 4.0), "rest": (1.0, 0.05)}
PEOPLE = ("anna", "bob", "cleo")
SHAPES = ("circle", "square", "triangle")
SOUNDS = {"yes": (300.0, 16_000), "no": (900.0, 44_100), "still": (0.0, 48_000)}
TAGS = ("action", "drama", "crime")

KINDS = {
    "phone": ("9 recordings: 3 classes, 3 people", "Add 9 takes", "takes"),
    "app": ("9 recordings: 3 classes, 3 people", "Add 9 takes", "takes"),
    "long": ("One recording of 18 s: 3 classes", "Add 9 takes", "long"),
    "sounds": ("24 sounds: 3 classes", "Add 24 sounds", "sounds"),
    "pictures": ("24 pictures: 3 classes", "Add 24 pictures", "pictures"),
    "house": ("A table: 300 rows, 4 columns", "Use this table", "house.csv"),
    "number": ("A table: 300 rows, 3 columns", "Use this table", "number.csv"),
    "sets": ("A table: 200 rows, 4 columns", "Use this table", "sets.csv"),
    "flags": ("A table: 200 rows, 6 columns", "Use this table", "flags.csv"),
}
"""The title of the sheet of each kind, its button, and the name under which it is kept."""


def write_kind(folder: Path, kind: str) -> Path:
    """Write data of a kind into a folder, and return it."""
    folder.mkdir(parents=True)
    {
        "phone": _write_phone, "app": _write_app, "long": _write_long, "sounds": _write_sounds,
        "pictures": _write_pictures, "house": _write_house, "number": _write_number,
        "sets": _write_sets, "flags": _write_flags,
    }[kind](folder)  # fmt: skip
    return folder


def motion(gesture: str, seed: int) -> list[tuple[float, float, float, float]]:
    """Return 2 s of times and accelerations, at 100 samples a second."""
    speed, size = MOTIONS[gesture]
    rng, t = np.random.default_rng(seed), np.arange(200) / 100
    phase = rng.uniform(0, 6)
    swing = [size * np.sin(2 * np.pi * speed * t + phase + at) for at in (0.0, 1.5)]
    axes = np.stack([t, *swing, np.full(200, 9.81)], axis=1)
    axes[:, 1:] += rng.normal(0, 0.1, (200, 3))
    return [tuple(row) for row in axes.tolist()]


def _write_phone(folder: Path) -> None:
    """Write a file for each take, as an export of phyphox is called by hand."""
    for seed, (gesture, person) in enumerate((g, p) for g in MOTIONS for p in PEOPLE):
        rows = [",".join(f"{v:.9e}" for v in row) for row in motion(gesture, seed)]
        (folder / f"{gesture}_{person}.csv").write_text("\n".join([PHONE, *rows, ""]))


def _write_app(folder: Path) -> None:
    """Write a folder for each take with a file for each sensor, as Sensor Logger does."""
    for seed, (gesture, person) in enumerate((g, p) for g in MOTIONS for p in PEOPLE):
        take = folder / f"{gesture}_{person}-2026-05-01_09-30-00"
        take.mkdir()
        begin = 1_777_627_800_000_000_000 + seed * 10**10
        for sensor in ("Accelerometer", "Gyroscope"):
            rows = [
                f"{begin + round(1e9 * t)},{t:.3f},{z:.5f},{y:.5f},{x:.5f}"
                for t, x, y, z in motion(gesture, seed)
            ]
            header = "time,seconds_elapsed,z,y,x"
            (take / f"{sensor}.csv").write_text("\n".join([header, *rows, ""]))
        (take / "Metadata.csv").write_text("version,device\n3,Phone\n")


def _write_long(folder: Path) -> None:
    """Write one recording with a column of classes, of which each comes three times."""
    rows = list[str]()
    for place in range(9):
        gesture = [*MOTIONS][place % 3]
        rows += [
            f"{2 * place + t:.2f},{x:.3f},{y:.3f},{z:.3f},{gesture}"
            for t, x, y, z in motion(gesture, place)
        ]
    (folder / "long.csv").write_text("\n".join(["t,ax,ay,az,gesture", *rows, ""]))


def sound(pitch: float, rate: int, seed: int) -> bytes:
    """Return a WAV file of 1 s, with a tone, or noise, that swells in its middle."""
    rng, t = np.random.default_rng(seed), np.arange(rate) / rate
    swell = np.exp(-(((t - 0.4) / 0.12) ** 2))
    tone = np.sign(np.sin(2 * np.pi * pitch * t)) if pitch else rng.normal(0, 0.5, rate)
    samples = (12_000 * swell * tone + rng.normal(0, 60, rate)).clip(-32_000, 32_000)
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return written.getvalue()


def _write_sounds(folder: Path) -> None:
    """Write a folder for each word, as in the Speech Commands corpus, with three rates."""
    for word, (pitch, rate) in SOUNDS.items():
        (folder / word).mkdir()
        for take in range(8):
            (folder / word / f"{take}.wav").write_bytes(sound(pitch, rate, take))


def picture(shape: str, seed: int) -> bytes:
    """Return a PNG file of 64 x 64 pixels with a dark shape on a light ground."""
    rng = np.random.default_rng(seed)
    x, y, r = (int(v) for v in rng.integers([26, 26, 12], [38, 38, 20]))
    image = Image.new("RGB", (64, 64), tuple(int(v) for v in rng.integers(200, 256, 3)))
    pen, dark = ImageDraw.Draw(image), tuple(int(v) for v in rng.integers(0, 90, 3))
    if shape == "circle":
        pen.ellipse([x - r, y - r, x + r, y + r], fill=dark)
    elif shape == "square":
        pen.rectangle([x - r, y - r, x + r, y + r], fill=dark)
    else:
        pen.polygon([(x, y - r), (x - r, y + r), (x + r, y + r)], fill=dark)
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def _write_pictures(folder: Path) -> None:
    """Write a folder for each class."""
    for shape in SHAPES:
        (folder / shape).mkdir()
        for take in range(8):
            (folder / shape / f"{take:02d}.png").write_bytes(picture(shape, take))


def _house() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    outdoor, heating = rng.normal(8, 8, 300), rng.integers(0, 2, 300)
    return outdoor, heating, 18 + 0.15 * outdoor + 2.5 * heating + rng.normal(0, 0.3, 300)


def _write_house(folder: Path) -> None:
    """Write a German table with a class in words, with decimal commas."""
    rows = [
        f"{o:.1f};{h};{i:.1f};{'zu kühl' if i < 19.5 else 'angenehm'}".replace(".", ",")
        for o, h, i in zip(*_house(), strict=True)
    ]
    header = "Außen °C;Heizung;Innen °C;Gefühl"
    (folder / "house.csv").write_text("\n".join([header, *rows, ""]), "utf-8")


def _write_number(folder: Path) -> None:
    """Write a table whose last column is a number to predict."""
    rows = [f"{o:.1f},{h},{i:.1f}" for o, h, i in zip(*_house(), strict=True)]
    (folder / "number.csv").write_text("\n".join(["outdoor,heating,indoor (°C)", *rows, ""]))


def _films() -> list[tuple[str, list[str]]]:
    """Return the numbers of films, and the labels of each."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    numbers = [f"{90 + 20 * x:.0f},{1990 + 12 * y:.0f},{5 + 2 * z:.1f}" for x, y, z in X.tolist()]
    labels = [[tag for tag, v in zip(TAGS, x, strict=True) if v > 0.3] for x in X.tolist()]
    return [*zip(numbers, labels, strict=True)]


def _write_sets(folder: Path) -> None:
    """Write a table with a column of sets of labels."""
    rows = [f"{numbers},{'|'.join(tags)}" for numbers, tags in _films()]
    (folder / "sets.csv").write_text("\n".join(["minutes,year,stars,tags", *rows, ""]))


def _write_flags(folder: Path) -> None:
    """Write a table with a column of 0 and 1 for each label."""
    header = ",".join(["minutes,year,stars", *(f"is_{tag}" for tag in TAGS)])
    rows = [
        ",".join([numbers, *(f"{int(tag in own)}" for tag in TAGS)]) for numbers, own in _films()
    ]
    (folder / "flags.csv").write_text("\n".join([header, *rows, ""]))
