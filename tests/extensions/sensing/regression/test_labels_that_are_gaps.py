"""Labels that a table reads as none are refused before a take has them, not when it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import refusal, run, succeed


@pytest.mark.parametrize("label", [" ", "NA", "nan", "?"])
def test_a_take_keeps_a_label(tmp_path: Path, label: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(
        "# protonn-edge recording 1; sensor: a0; rate: 50 Hz; units: 1/1023\n"
        "label,session,time,a0\nrest,anna,0,5\nrest,anna,0.02,6\n"
    )
    content = path.read_bytes()
    assert "--label" in refusal(run("takes", path, "--take", 1, "--label", label))
    assert path.read_bytes() == content
    succeed("takes", path, "--take", 1, "--label", "none")
    options = ["--emulate", "--sensor", f"a0={path}", "--seconds", 1, "--takes", 1]
    output = tmp_path / "new.csv"
    assert "--label" in refusal(run("record", "-o", output, *options, "--label", label))
    assert not output.exists()
