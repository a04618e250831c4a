"""Columns A0 and A1 did not match the pins a0 and a1, and a command had a file for each pin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from avr_tools import needs_emulated_avr
from command_line import succeed


@needs_emulated_avr
def test_pins_in_capitals_match_and_take_their_samples_from_one_file(tmp_path: Path) -> None:
    table, model, project = tmp_path / "box.csv", tmp_path / "box.npz", tmp_path / "live"
    rng = np.random.default_rng(0)
    rows = [
        f"{label},{','.join(map(str, rng.integers(low, low + 200, 2)))}"
        for label, low in (("open", 700), ("closed", 10))
        for _ in range(30)
    ]
    table.write_text("label,A0,A1\n" + "\n".join(rows) + "\n")
    succeed("train", table, "-o", model, "--classifier", "linear")
    words = ["--sensor", "a0", "--sensor", "a1", "--rate", 10, "-o", project]
    done = succeed("build", model, *words)
    assert "matched by position" not in done.stderr
    assert "windows of 1 sample at 10 Hz" in done.stdout
    assert done.stdout.rstrip().endswith("--emulate --sensor a0=FILE")  # there is no recording.csv
    words = ["--emulate", "--sensor", f"a0={table},rate=10", "--seconds", 2]
    watched = succeed("monitor", "--project", project, *words)
    assert "open" in watched.stdout
