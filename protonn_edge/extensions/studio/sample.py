"""Sample data: three gestures of two people, and a course of them for an emulated sensor to play.

They are computed, in the counts of an ADXL345: without a sensor, one sees the whole way with them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.recorder import recording_head

SENSOR, RATE = "adxl345", 50.0
PLAYED = "play.csv"
PLAYED_MARK = b"# protonn-edge samples"

_G = 256.0  # counts
_TAKE_S, _PAUSE_S, _SESSION_S = 2.0, 1.0, 5.0
_TAKES = 2  # of each gesture and person
_GESTURES = ("still", "swing", "knock")
_PEOPLE = {"anna": (1.05, 0.85, 520.0), "bob": (0.85, 0.7, 400.0)}
"""Swings a second, their height in g, and the strength of knocks in counts."""

_COURSE = (("still", 2.0), ("swing", 3.5), ("still", 1.5), ("knock", 3.0))
_KNOCKS_S = 0.55
_RINGING = np.array([1.0, -0.55, 0.3, -0.12])  # of a knock, sample by sample


def sample_files(recording: str) -> dict[str, str]:
    """Return the sample's files by their names: a recording of 12 takes, and what is played."""
    kind, rng = sensor_kind(SENSOR), np.random.default_rng(7)
    rows, now = [recording_head([SENSOR], RATE, kind.units, kind.channels).rstrip("\n")], 0.0
    for person in _PEOPLE:
        for gesture in _GESTURES:
            for _ in range(_TAKES):
                values = _gesture(gesture, person, _TAKE_S, rng)
                times = now + np.arange(len(values)) / RATE
                rows += _lines(values, (f"{gesture},{person},{time:.6f}," for time in times))
                now = float(times[-1]) + _PAUSE_S
        now += _SESSION_S
    mark = f"{PLAYED_MARK.decode()}; sensor: {SENSOR}; rate: {RATE:g} Hz"
    played = [mark, ",".join(kind.channels)]
    values = np.concatenate([_played(person, rng) for person in _PEOPLE])
    played += _lines(values, ("" for _ in values))
    return {name: "\n".join([*text, ""]) for name, text in ((recording, rows), (PLAYED, played))}


def _played(person: str, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.concatenate([_gesture(gesture, person, s, rng) for gesture, s in _COURSE])


def _lines(values: NDArray[np.int64], begins: Iterator[str]) -> list[str]:
    return [
        begin + ",".join(map(str, row)) for begin, row in zip(begins, values.tolist(), strict=True)
    ]


def _gesture(
    gesture: str, person: str, seconds: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return samples (n, 3) of a gesture, which begins anywhere in it."""
    swings, height, strength = _PEOPLE[person]
    n = round(seconds * RATE)
    values = rng.normal(0.0, 7.0, (n, 3))
    values[:, 2] += _G
    if gesture == "swing":
        phase = 2 * np.pi * (swings * np.arange(n) / RATE + rng.random())
        arc = height * rng.uniform(0.85, 1.15) * _G * np.sin(phase)
        values[:, 0] += arc
        values[:, 1] += 0.25 * height * _G * np.cos(2 * phase)
        values[:, 2] -= np.abs(arc) / 3
    if gesture == "knock":
        at = rng.uniform(0, _KNOCKS_S)
        while (first := round(at * RATE)) < n:
            ringing = strength * rng.uniform(0.6, 1.2) * _RINGING[: n - first]
            values[first : first + len(ringing), 2] += ringing
            values[first : first + len(ringing), 0] += 0.3 * ringing
            at += _KNOCKS_S * rng.uniform(0.8, 1.25)
    return np.rint(values).astype(np.int64)
