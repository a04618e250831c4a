"""The whole way on USPS as LIBSVM has it, with the bounds that the project promises for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from avr_tools import needs_emulated_avr
from command_line import run_json
from data_files import data_file


def with_fewer_test_points(path: Path, fewer: Path) -> Path:
    """Write a file with every third test point: the emulated Uno takes 5 ms for each."""
    with np.load(path) as arrays:
        step = {"X_test": 3, "y_test": 3}
        np.savez(fewer, **{name: arrays[name][:: step.get(name, 1)] for name in arrays})
    return fewer


@needs_emulated_avr
def test_usps_keeps_its_promises(tmp_path: Path) -> None:
    usps = with_fewer_test_points(data_file("usps10_libsvm.npz"), tmp_path / "usps.npz")

    settings = ("--projection-dim", 10, "--prototypes", 40)
    trained = run_json("train", usps, "-o", tmp_path / "model.npz", *settings)
    built = run_json(
        "build", tmp_path / "model.npz", "-o", tmp_path, "--data", usps, "--plan", "columns"
    )
    measured = run_json("hil", usps, "--emulate", "--project", tmp_path)
    assert (measured["n"], measured["mismatches"], measured["lost"]) == (669, 0, 0)
    assert measured["accuracy"] == trained["accuracy"] >= 0.925
    assert trained["float_accuracy"] - measured["accuracy"] <= 0.01
    assert measured["flash_bytes"] <= 8192
    assert measured["sram_bytes"] + measured["stack_bytes"] <= 700
    assert measured["cycles"]["mean"] <= 18_500  # the emulator's, which are exact
    assert measured["cycles"]["max"] <= built["cycles"]["most"]
