"""A library that is not installed is named, with what to install, before time is spent."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from checkout import CHECKOUT, skip_unless_checked_out

from protonn_edge.system import lazy

PROGRAM = """
import sys
sys.modules |= dict.fromkeys({missing!r})
from protonn_edge.cli import main
main(prog_name="protonn-edge")
"""


def without(missing: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command where a library is missing."""
    program = PROGRAM.format(missing=[missing])
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )


def test_a_command_names_the_extra_that_it_needs(tmp_path: Path) -> None:
    done = without("optuna", "tune", "train.csv", "-o", "m.npz", "--json")
    sentence = "this needs optuna, which is not installed; run: pip install 'protonn-edge[search]'"
    assert done.returncode == 2
    assert done.stderr == f"error: {sentence}\n"
    assert json.loads(done.stdout) == {"ok": False, "error": sentence}
    done = without("matplotlib", "data", str(tmp_path / "digits.csv"), "--html", "page.html")
    assert done.returncode == 2
    assert "pip install 'protonn-edge[plots]'" in done.stderr


def test_a_training_goes_on_without_the_library_of_other_kinds(tmp_path: Path) -> None:
    points = [(a * 7 % 31, a * 12 % 29) for a in range(600)]
    rows = [(a, b, "xy"[(a // 8 + b // 8) % 2]) for a, b in points]
    table = tmp_path / "board.csv"
    table.write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    words = (str(table), "-o", str(tmp_path / "m.npz"))
    done = without("sklearn", "train", *words)
    assert (done.returncode, "kind forest" in done.stderr + done.stdout) == (0, False)
    done = without("sklearn", "train", *words, "--classifier", "forest")
    sentence = "this needs scikit-learn, which is not installed; run: pip install scikit-learn"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"error: {sentence}")


def test_what_is_missing_for_another_reason_is_no_extra() -> None:
    assert lazy.sentence_of(ImportError("x", name="nothing_of_ours")) is None
    assert "plots" in str(lazy.sentence_of(ImportError("x", name="matplotlib.figure")))


def test_the_extras_are_those_of_the_project() -> None:
    skip_unless_checked_out("pyproject.toml")
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    for library, extra in lazy._EXTRAS.items():
        name = "pillow" if library == "PIL" else library
        assert any(re.match(rf"{name}>=", line) for line in optional[extra])
        assert not any(line.startswith(library) for line in project["dependencies"])
