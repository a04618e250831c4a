"""Recordings: `windows` refuses one in one sentence, or cuts it into windows of known classes."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import numpy as np
from laws.fuzz.mutation import NUMBERS, TEXTS, encoded, mutated_bytes, mutated_text, pick
from laws.fuzz.sentences import check_command

BRIEF_CASES = 20

_CHANNELS = ("ax", "ay", "az", "gx", "sound")
_TIMES = ("time", "ms", "timestamp", "t")


def run_case(seed: int, folder: Path) -> None:
    """Cut windows of a changed table, WAV file or folder of takes."""
    rng = np.random.default_rng(seed)
    recording = pick(rng, (_table_file, _table_file, _wave_file, _folder))(rng, folder)
    made = folder / "windows.npz"
    if check_command("windows", recording, "-o", made, *_options(rng)):
        _check_windows(made)
    else:
        assert not made.exists(), "a refusal leaves an output"


def _check_windows(path: Path) -> None:
    with np.load(path, allow_pickle=False) as arrays:
        X, y, names = arrays["X_train"], arrays["y_train"], arrays["class_names"]
    assert X.ndim == 3, f"windows have the shape {X.shape}"
    assert len(X) == len(y) > 0, f"{len(X)} windows have {len(y)} labels"
    assert np.isfinite(X).all(), "a sample is not finite"
    assert sorted(set(y.tolist())) == list(range(len(names))), "a class has no window"


def _options(rng: np.random.Generator) -> list[object]:
    """Return a window's length, and now and then other options, some of which make no sense."""
    options: list[object] = ["--window", pick(rng, (2, 2, 3, 8, 40, 300, 2**31))]
    if rng.random() < 0.3:
        options += pick(
            rng,
            (
                ("--stride", pick(rng, (1, 2, 10**9))),
                ("--trigger", pick(rng, ("auto", "1", "1e9", "1e-9"))),
                ("--trigger", f"auto,before={pick(rng, (0, 1, 7))}"),
                ("--onset", pick(rng, (1, 4, 100))),
            ),
        )
    if rng.random() < 0.3:
        options += ["--test", pick(rng, ("0.3", "0.99"))]
    if rng.random() < 0.2:
        name = pick(rng, ("channels", "session", "time", "label", "drop"))
        value = pick(rng, (*_CHANNELS, *_TIMES, "1", "2", "last", "1,2", "label"))
        options += [f"--{name}", value]
    if rng.random() < 0.1:
        options += ["--rate", pick(rng, ("50", "0.001", "1e6"))]
    return options


# --- tables ---------------------------------------------------------------------------------------


def _table_file(rng: np.random.Generator, folder: Path) -> Path:
    path = folder / pick(rng, ("recording.csv", "recording.csv", "rest.tsv", "a"))
    path.write_bytes(_changed(rng, _table(rng, labelled=rng.random() < 0.8)))
    return path


def _changed(rng: np.random.Generator, text: str) -> bytes:
    if rng.random() < 0.7:
        text = mutated_text(rng, text)
    data = encoded(rng, text)
    return mutated_bytes(rng, data) if rng.random() < 0.1 else data


def _table(rng: np.random.Generator, *, labelled: bool) -> str:
    """Return samples with labels, sessions and times as programs write them, and few now and then.

    All columns are optional, and so is their header.
    """
    n = int(pick(rng, (0, 1, 1, 2, 3, 10, 40, 90)))
    columns: dict[str, list[str]] = {}
    if labelled:
        names = pick(rng, (("rest", "wave"), ("0", "1"), ("a", "a"), ("x y", "")))
        columns["label"] = [names[2 * row // max(1, n)] for row in range(n)]
    if rng.random() < 0.4:
        columns["session"] = [f"s{3 * row // max(1, n)}" for row in range(n)]
    if rng.random() < 0.5:
        columns[pick(rng, _TIMES)] = _times(rng, n)
    for name in _CHANNELS[: int(rng.integers(0 if columns else 1, 4))]:
        size = 10.0 ** rng.integers(-3, 5)
        values = rng.normal(size=n) * size if rng.random() < 0.8 else np.full(n, size)
        columns[name] = [f"{value:.4g}" for value in values]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    if rng.random() < 0.7:
        rows.insert(0, list(columns))
    text = "\n".join(",".join(row) for row in rows) + "\n"
    if rng.random() < 0.4:
        rate = pick(rng, ("50 Hz", "8000 Hz", f"{pick(rng, NUMBERS)} Hz", pick(rng, TEXTS)))
        text = f"# protonn-edge recording 1; sensor: mpu6050; rate: {rate}; units: counts\n{text}"
    return text


def _times(rng: np.random.Generator, n: int) -> list[str]:
    begin, step = pick(rng, (0.0, 1e9, -5.0)), pick(rng, (0.02, 20.0, 1e-6, 0.0))
    times = begin + step * np.arange(n)
    if n and rng.random() < 0.3:
        times[int(rng.integers(n)) :] += pick(rng, (step * 50, -step * 50, 1e300))
    if rng.random() < 0.2:
        return [f"2024-01-01 10:{row // 60 % 60:02}:{row % 60:02}" for row in range(n)]
    return [f"{time:.10g}" for time in times]


# --- sounds and folders ---------------------------------------------------------------------------


def _wave_file(rng: np.random.Generator, folder: Path) -> Path:
    path = folder / "clap_1.wav"
    path.write_bytes(_wave(rng))
    return path


def _wave(rng: np.random.Generator) -> bytes:
    """Return a sound, often a short one, with other chunks or changed bytes."""
    content = io.BytesIO()
    with wave.open(content, "wb") as sound:
        width, channels = pick(rng, (1, 2, 2, 3)), pick(rng, (1, 1, 2))
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(pick(rng, (1, 8000, 44_100)))
        sound.writeframes(rng.bytes(width * channels * int(pick(rng, (0, 1, 2, 30, 500)))))
    data = content.getvalue()
    if rng.random() < 0.3:  # a chunk of any length between the header and the samples
        name, size = pick(rng, (b"LIST", b"fact", b"data", b"\0\0\0\0")), int(rng.integers(9))
        said = pick(rng, (size, size, 2**31, 2**32 - 1))
        data = data[:36] + name + said.to_bytes(4, "little") + rng.bytes(size) + data[36:]
    return mutated_bytes(rng, data) if rng.random() < 0.6 else data


def _folder(rng: np.random.Generator, folder: Path) -> Path:
    path = folder / "takes"
    path.mkdir()
    sounds = rng.random() < 0.4
    for name in ("rest_1", "rest_2", "wave_1", "wave_2")[: int(rng.integers(5))]:
        if sounds != (rng.random() < 0.1):
            (path / f"{name}.wav").write_bytes(_wave(rng))
        else:
            (path / f"{name}.csv").write_bytes(_changed(rng, _table(rng, labelled=False)))
    return path
