"""WAV files for tests."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np


def write_sound(path: Path, samples: np.ndarray, rate: int = 8000) -> Path:
    """Write samples (n,) or (n, channels), of bytes or of 16 bits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, samples.itemsize, rate, 0, "NONE", ""))
        file.writeframes(samples.astype(samples.dtype.newbyteorder("<")).tobytes())
    return path


def write_lines(path: Path, text: str) -> None:
    """Write a sound of the corpus: a line for each sample, with commas between channels.

    Before them may be lines with the rate, the bits, bytes that are put at a place of the file, and
    the bytes that it is cut to: ``rate 16000``, ``bits 16``, ``at 40 ffffff7f``, ``cut 500``.
    """
    lines, said = text.splitlines(), dict[str, list[str]]()
    while lines and lines[0][:1].isalpha():
        name, *words = lines.pop(0).split()
        said[f"{name} {words[0]}" if name == "at" else name] = words
    kind = np.int16 if said.get("bits") == ["16"] else np.uint8
    samples = np.array([line.split(",") for line in lines], float).reshape(len(lines), -1)
    write_sound(path, samples.astype(kind), int(said.get("rate", ["8000"])[0]))
    content = bytearray(path.read_bytes())
    for place, written in (words for name, words in said.items() if name.startswith("at ")):
        content[int(place) : int(place) + len(written) // 2] = bytes.fromhex(written)
    path.write_bytes(content[: int(said["cut"][0]) if "cut" in said else None])
