"""An export says what a sketch passes for gaps and for columns of text."""

from __future__ import annotations

import re
from pathlib import Path

from command_line import succeed

ROWS = "".join(
    f"{'' if row % 7 == 0 else 40 + 3 * (row % 5)},{row % 4}.5,{('slow', 'fast')[row % 2]},"
    f"{'worn' if row % 5 > 2 else 'good'}\n"
    for row in range(60)
)


def exported(folder: Path, header: str, *options: str) -> tuple[str, str]:
    """Return the README and the header of a library for a model of a table."""
    (folder / "d.csv").write_text(header + ROWS)
    model, library = folder / "m.npz", folder / "lib"
    succeed("train", folder / "d.csv", "--classifier", "linear", "-o", model, *options)
    succeed("export", model, "--arduino", library, "--library", "name=motors")
    return (library / "README.md").read_text(), (library / "src" / "motors.h").read_text()


def test_what_fills_gaps_and_the_features_of_a_text_are_listed(tmp_path: Path) -> None:
    header = "temp (C),current [A],mode,label\n"
    readme, source = exported(tmp_path, header, "--missing", "median", "--one-hot", "mode")
    temp, amperes = (
        r"\| 0 temp \(C\) \| 4\d+ \| 4[0-9.]+ \|",
        r"\| 1 current \[A\] \| \d+ \| [0-9.]+",
    )
    sketch = (tmp_path / "lib" / "examples" / "Classify" / "Classify.ino").read_text()
    assert "\n// mode: return 1 for the feature of its current value, and 0 for its other" in sketch
    assert re.search(rf"{temp}\n{amperes} \|", readme)
    assert re.search(r"\| 1 \| current \[A\] \| tenths ", readme)
    assert "| mode | 2 mode=fast, 3 mode=slow |" in readme
    assert re.search(
        r" \*     0 temp \(C\): 4\d+ \(4[0-9.]+\)\n \*     1 current \[A\]: \d+ \(", source
    )
    assert " *     mode: 2 mode=fast, 3 mode=slow\n" in source


def test_names_cannot_end_a_comment_or_a_table(tmp_path: Path) -> None:
    header = '"*/ int x; /*|","a|b[c](//d)<script>",m*/,label\n'
    readme, source = exported(tmp_path, header, "--missing", "median", "--one-hot", "m*/")
    assert "| 0 __ int x_ ___ | " in readme
    assert "](" not in readme
    assert source.count("*/") == 2
    assert "<script>" not in readme


def test_other_models_have_no_such_section(tmp_path: Path) -> None:
    readme, source = exported(
        tmp_path,
        "temp (C),current [A],mode,label\n",
        *("--missing", "drop", "--drop", "mode"),
    )
    assert "## Gaps" not in readme
    assert "value" not in source
    sketch = (tmp_path / "lib" / "examples" / "Classify" / "Classify.ino").read_text()
    assert "return 1 for the feature" not in sketch
