"""Persons in the names of files, and one line for the rates of many files."""

from __future__ import annotations

from pathlib import Path

from command_line import succeed


def folder_of(folder: Path, names: list[str]) -> Path:
    for number, name in enumerate(names):
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = (f"{n * (0.02 + number * 1e-4):.5f},{n % 7},{n % 5}" for n in range(60))
        path.write_text("\n".join(["Time (s),ax,ay", *rows]) + "\n")
    return folder


TAKES = [
    f"{what}/{who}_{n}" for what in ("lift", "rest") for who in ("anna", "ben") for n in (1, 2)
]


def test_the_rates_of_many_files_are_one_line(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "lots", TAKES)
    done = succeed("windows", folder, "-o", tmp_path / "w.npz", "--window", 10)
    assert done.stderr.count("samples a second") == 1
    assert "48.31 to 50 samples a second, computed from times in seconds" in done.stderr
