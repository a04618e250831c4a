"""Loud sounds and strong movements beyond a sensor's range are not taken in silence."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from command_line import run_json


def said_of(folder: Path) -> list[str]:
    found = run_json("windows", folder, "-o", folder.with_suffix(".npz"), "--window", 50)
    return [each["text"] for each in found["notices"] if each["kind"] == "clipping"]


def takes(folder: Path, cut_off: dict[int, float]) -> Path:
    """Write three takes of two classes; some are cut off at a value."""
    rng = np.random.default_rng(0)
    for number in range(3):
        for label, size in (("walk", 2.0), ("rest", 0.2)):
            swing = size * np.sin(np.arange(600) / 4) + rng.normal(0, 0.1, 600)
            limit = cut_off.get(number, np.inf)
            rows = [f"{min(x, limit):.3f},{min(9.81 + x, limit):.3f}" for x in swing]
            (folder / label).mkdir(parents=True, exist_ok=True)
            (folder / label / f"{number}.csv").write_text("\n".join(["ax,az", *rows]) + "\n")
    return folder


def test_a_take_beyond_the_range_is_named_with_its_share(tmp_path: Path):
    (said,) = said_of(takes(tmp_path / "some", {1: 1.5}))[:1]
    assert said.startswith("channel 'ax' stays at an end of its range in 1 of 6 takes, ")
    assert "such as at 1.5 for 2" in said


def test_takes_within_the_range_are_not(tmp_path: Path):
    assert said_of(takes(tmp_path / "all", {})) == []


@pytest.mark.parametrize("loud", [False, True])
def test_sounds_that_are_too_loud(tmp_path: Path, loud: bool):
    for label, speed in (("low", 40), ("high", 5)):
        (tmp_path / "s" / label).mkdir(parents=True)
        sound = np.sin(np.arange(4_000) / speed) + np.random.default_rng(0).normal(0, 0.1, 4_000)
        counts = np.clip(sound * (60_000 if loud else 20_000), -(2**15), 2**15 - 1)
        with wave.open(str(tmp_path / "s" / label / "1.wav"), "wb") as file:
            file.setparams((1, 2, 8_000, 0, "NONE", ""))
            file.writeframes(counts.astype("<i2").tobytes())
    said = said_of(tmp_path / "s")
    assert [text.split(",")[0] for text in said] == [
        "channel 'microphone' stays at an end of its range in 2 of 2 takes"
    ] * loud


def test_a_floor_of_zero_and_single_peaks_are_no_limits(tmp_path: Path):
    t = np.arange(600)
    light = np.maximum(0, np.round(300 * np.sin(t / 40)))
    wave_of_24 = np.sin(2 * np.pi * t / 24)  # its peaks are equal
    rows = [
        f"{a:.0f},{b:.6f},{'ab'[n // 300]}"
        for n, (a, b) in enumerate(zip(light, wave_of_24, strict=True))
    ]
    (tmp_path / "r.csv").write_text("\n".join(["light,wave,label", *rows]) + "\n")
    assert said_of(tmp_path / "r.csv") == []
