"""Text is the same on every system: encodings, line ends, and the names of files."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checkout import CHECKOUT, skip_unless_checked_out
from command_line import succeed
from model_factory import random_model

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.export import export
from protonn_edge.data.reading import load_dataset
from protonn_edge.device.results import Origin, Result, ResultsFile, read_results
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize

DEADLINE_S = 120.0
RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}

TABLES = {
    "points.csv": "label,größe,b\nhöher,1,2\ntief,3,4.5\nhöher,5,6\ntief,0,1\n",
    "points.tsv": "label\ta\tb\nx\t1\t2\ny\t3\t4.5\nx\t5\t6\ny\t0\t1\n",
    "points.txt": "1 1:1 2:2\n2 1:3 2:4.5\n1 1:5 2:6\n2 2:1\n",
}


def files_in(folder: Path) -> list[Path]:
    """Return all files under a folder, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("first", ["", "\N{ZERO WIDTH NO-BREAK SPACE}"], ids=["plain", "bom"])
def test_tables_with_the_line_ends_of_windows_are_the_same_points(
    tmp_path: Path, name: str, first: str
):
    there, here = tmp_path / name, tmp_path / "windows" / name
    here.parent.mkdir()
    there.write_bytes(TABLES[name].encode())
    here.write_bytes((first + TABLES[name]).replace("\n", "\r\n").encode())
    ours, theirs = load_dataset(there), load_dataset(here)
    assert np.array_equal(ours.X_train, theirs.X_train)
    assert np.array_equal(ours.y_train, theirs.y_train)
    assert (ours.classes, ours.feature_names) == (theirs.classes, theirs.feature_names)


def test_results_that_a_spreadsheet_has_saved_are_read(tmp_path: Path):
    path = tmp_path / "results.csv"
    results = [Result(0, 1, 1, 16072, False, None, r"\\.\COM12"), Result(1, 0, 1, 16000, False)]
    with ResultsFile(path, Origin("a" * 16, "b" * 16, 9), ("off", "on")) as file:
        for result in results:
            file.append(result)
    assert b"\r" not in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_results(path).results == results


# This package opens no file without naming the encoding; others may.
SCRIPT = r"""
import sys, warnings
warnings.filterwarnings("error", category=EncodingWarning, module=r"protonn_edge\b")
from protonn_edge.cli import main
for words in sys.argv[1:]:
    try:
        main(words.split())
    except SystemExit as end:
        if end.code:
            raise
"""
COMMANDS = (
    "train größe.csv -o größe.npz --epochs 2 --prototypes 4 --projection-dim 2",
    "inspect größe.npz --data größe.csv",
    "export größe.npz --arduino box",
)


def test_a_model_is_the_same_where_text_is_not_in_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As on Windows, whose terminals and files have code pages; no name may end in a traceback."""
    rows = [
        f"{name},{x + i % 5},{i % 7}" for i in range(40) for name, x in (("höher", 0), ("Ω", 9))
    ]
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "größe.csv").write_text("\n".join(["label,a,b", *rows]), encoding="utf-8")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LC_")},
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "LC_ALL": "C",
        "PYTHONIOENCODING": "cp1252",
        "PYTHONPATH": str(CHECKOUT),
    }
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", SCRIPT, *COMMANDS],
        cwd=there,
        env=environment,
        capture_output=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("cp1252")
    monkeypatch.chdir(here)
    for words in COMMANDS:
        succeed(*words.split())
    assert load_model(there / "größe.npz").classes == ("höher", "Ω")
    assert digests(there) == digests(here)


def digests(folder: Path) -> dict[str, str]:
    """Return what is in a folder's files, by their names."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files_in(folder)
    }


def test_what_is_generated_ends_lines_the_same_everywhere(tmp_path: Path):
    export(random_model(), "arduino", tmp_path / "digits", load_board("uno"), tries=False)
    files = files_in(tmp_path / "digits")
    assert files
    assert [path.name for path in files if b"\r" in path.read_bytes()] == []


def test_a_checkout_ends_lines_the_same_everywhere():
    skip_unless_checked_out(".gitattributes")
    assert "* text=auto eol=lf" in (CHECKOUT / ".gitattributes").read_text("utf-8")


def test_every_file_has_a_name_that_windows_can_have():
    skip_unless_checked_out(".git")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=True
    )
    names = listed.stdout.decode().rstrip("\0").split("\0")
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        assert not set(name) & set('<>:"\\|?*')
        for part in name.split("/"):
            assert part.partition(".")[0].lower() not in RESERVED
            assert not part.endswith((".", " "))


def test_generated_models_do_not_depend_on_where_they_are_made(tmp_path: Path):
    """No folder of the machine gets into what is generated, whatever its separators are."""
    export(random_model(), "platformio", tmp_path / "digits", load_board("uno"), tries=False)
    files = files_in(tmp_path / "digits")
    assert files
    assert [path.name for path in files if str(tmp_path).encode() in path.read_bytes()] == []
    assert quantize(random_model()).model_sha256 == quantize(random_model()).model_sha256
