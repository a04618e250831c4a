"""Two sensors in one recording were one channel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import Recording, read_recording

BOTH = TableOptions(files=("acc", "gyr"))


def wave(moment: float) -> float:
    """Return the value of a sensor at a moment in milliseconds."""
    return 100 * np.sin(moment / 97)


def write(
    folder: Path, name: str, moments: list[int], value: Callable[[float], float] = wave
) -> None:
    path = folder / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{moment},{value(moment):.6f}" for moment in moments]
    path.write_text("\n".join([f"time,{path.name[0]}", *rows]) + "\n")


def texts(recording: Recording, kind: str) -> list[str]:
    return [each.text for each in recording.dataset.notices if each.kind == kind]


# --- files of two sensors -------------------------------------------------------------------------


def test_sensors_of_a_take_are_joined_by_their_times(tmp_path: Path) -> None:
    for take in ("run", "walk"):
        write(tmp_path, f"{take}/acc", list(range(0, 1000, 20)))
        write(tmp_path, f"{take}/gyr", list(range(-50, 1100, 10)), lambda t: wave(t) + 1)
    recording = read_recording(tmp_path, BOTH)
    assert recording.channels == ("a", "g")
    assert recording.samples.shape == (100, 2)
    np.testing.assert_allclose(recording.samples[:, 1], recording.samples[:, 0] + 1, atol=1e-4)
    assert recording.rate == 50
    assert texts(recording, "rate") == [
        "50 samples a second, computed from times in milliseconds; use --rate to correct it"
    ]


def test_values_between_two_samples_are_interpolated(tmp_path: Path) -> None:
    for take in ("run", "walk"):
        write(tmp_path, f"{take}/acc", list(range(5, 1000, 20)))
        write(tmp_path, f"{take}/gyr", list(range(0, 1100, 10)))
    samples = read_recording(tmp_path, BOTH).samples
    between = [(wave(t - 5) + wave(t + 5)) / 2 for t in range(5, 1000, 20)]
    np.testing.assert_allclose(samples[: len(between), 1], between, atol=1e-4)


def test_only_common_times_are_joined_and_gaps_of_a_sensor_divide(tmp_path: Path) -> None:
    for take in ("run", "walk"):
        write(tmp_path, f"{take}/acc", list(range(0, 1000, 20)))
        own = [t for t in range(100, 700, 10) if not 300 < t < 400]
        write(tmp_path, f"{take}/gyr", own)
    recording = read_recording(tmp_path, BOTH)
    kept = [t for t in range(100, 700, 20) if not 300 < t < 400]
    assert len(recording.samples) == 2 * len(kept)
    np.testing.assert_allclose(
        recording.samples[: len(kept), 0], [wave(t) for t in kept], atol=1e-4
    )
    after = kept.index(400)
    assert np.flatnonzero(recording.seams).tolist() == [after, len(kept), len(kept) + after]
