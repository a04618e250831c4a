"""A folder with a typing error in its name was called none, and the pattern was to be left out."""

from __future__ import annotations

from pathlib import Path

from command_line import refusal, run


def test_a_missing_folder_is_said_to_be_missing_with_a_pattern_of_names(tmp_path: Path) -> None:
    options = "-o", tmp_path / "w.npz", "--window", 20, "--read", "name={class}_{take}"
    assert "missing does not exist" in refusal(run("windows", tmp_path / "missing", *options))
    (tmp_path / "take.csv").write_text("x,y\n1,2\n")
    assert "omit it" in refusal(run("windows", tmp_path / "take.csv", *options))
