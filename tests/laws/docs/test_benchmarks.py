"""Each benchmark starts as its page starts it, with the options that its page gives it."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import extension_parts
import pytest
from checkout import CHECKOUT, skip_unless_checked_out
from doc_blocks import PAGES

COMMAND = re.compile(r"python (benchmarks/\w+\.py(?:\s+(?:--[\w-]+|\w[^\s`<|]*))*)(?=[`\s]|$)")
STARTER = Path(__file__).with_name("start_benchmarks.py")
FOLDER = CHECKOUT / "benchmarks"
SLOW_TO_IMPORT = (
    "matplotlib.pyplot",
    "sklearn.ensemble",
    "sklearn.neural_network",
    "protonn_edge.extensions.conversion.converting",
    "protonn_edge.codegen.projects.project",
    "protonn_edge.report",
)


def documented(page: str) -> list[str]:
    """Return the command lines of benchmarks that a page has."""
    return [" ".join(found.split()) for found in COMMAND.findall(page)]


def index() -> dict[str, Any]:
    """Return the entries of all benchmarks."""
    skip_unless_checked_out("benchmarks")
    entries: dict[str, Any] = runpy.run_path(str(FOLDER / "index.py"))["INDEX"]
    return entries


def commands() -> set[str]:
    """Return the beginning of the command line of each benchmark."""
    scripts = (
        f"benchmarks/{path.name}"
        for path in FOLDER.glob("*.py")
        if "__main__" in path.read_text("utf-8")
    )
    return {*scripts, *(f"benchmarks/run.py {name}" for name in index())}


def started(lines: list[str], *imported: str) -> dict[str, tuple[int, str]]:
    """Return the exit code of each line, and what it printed before its work."""
    answers = subprocess.run(
        [sys.executable, str(STARTER), *imported],
        cwd=CHECKOUT,
        input=json.dumps([shlex.split(line) for line in lines]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answers.returncode == 0, answers.stderr
    return dict(zip(lines, json.loads(answers.stdout), strict=True))


@extension_parts.needs("conversion")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork; to run: use Linux or macOS")
def test_every_benchmark_starts_takes_its_pages_options_and_has_the_rows_of_its_entry():
    on_pages = {line for page in PAGES for line in documented(page.read_text("utf-8"))}
    assert len(on_pages) > 40
    answers = started(sorted(on_pages | {f"{each} --help" for each in commands()}), *SLOW_TO_IMPORT)
    assert {line: said for line, (code, said) in answers.items() if code} == {}
    for name, entry in index().items():
        cited = [rows for rows in entry.pages.values() if rows]
        if None in entry.pages.values() or not cited:
            continue
        choices = re.search(
            r"--only \[(.*?)\]", answers[f"benchmarks/run.py {name} --help"][1], re.S
        )
        assert choices is not None
        rows = re.sub(r"\s", "", choices[1]).split("|")
        assert {*rows} == {row for each in cited for row in each}, f"{name}: a row is not cited"


def test_every_benchmark_is_named_by_the_pages_of_its_entry():
    for name, entry in index().items():
        for page in entry.pages:
            text = " ".join((CHECKOUT / "docs" / page).read_text("utf-8").split())
            cited = re.search(rf"benchmarks/run\.py {name}\b", text)
            assert cited, f"{page} does not cite {name}"


def test_every_benchmark_that_a_page_names_has_it_in_its_entry():
    entries, names = index(), re.compile(r"benchmarks/run\.py (\w+)")
    for page in PAGES:
        for name in set(names.findall(page.read_text("utf-8"))):
            assert page.name in {Path(each).name for each in entries[name].pages}, page.name


def test_stored_rows_are_on_the_pages_that_show_them():
    entries, stored = index(), json.loads((FOLDER / "stored.json").read_text("utf-8"))
    assert unshown(entries, stored) == []
    names = {command.split()[0] for command in stored}
    assert {name for name in names if not entries[name].shown} == {"figures"}


def unshown(entries: dict[str, Any], stored: dict[str, Any]) -> list[str]:
    """Return the stored rows of which a page that shows them has no line with the cells."""
    found = []
    for command, rows in stored.items():
        name, _, case, *_ = shlex.split(command)
        for page, own in entries[name].pages.items():
            lines = (CHECKOUT / "docs" / page).read_text("utf-8").splitlines()
            for row in rows if own is None or case in own else []:
                cells = [row[heading] for heading in entries[name].shown]
                there = any(all(is_cell_of(line, cell) for cell in cells) for line in lines)
                there = there or row.get("failure")
                found += [] if there else [f"{page}: {command} gave {cells}"]
    return found


def is_cell_of(line: str, cell: str) -> bool:
    """Return whether a line has what is printed in a cell, not only as a part of a number."""
    return re.search(rf"(?<![\w.,]){re.escape(cell)}(?!\w|[.,]\d)", line) is not None


def test_a_page_without_a_stored_cell_is_found():
    command = "boards --only uno"
    (row,) = json.loads((FOLDER / "stored.json").read_text("utf-8"))[command]
    assert unshown(index(), {command: [row | {"flash B": "3"}]}) != []


@extension_parts.needs("conversion")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork; to run: use Linux or macOS")
def test_a_benchmark_that_does_not_start_is_found(tmp_path: Path):
    texts = {
        "shadowed": "from failing import nothing",
        "failing": "raise SystemExit(0)",
        "strict": "import click\n@click.command()\n@click.option('--n', type=int)\n"
        "def main(n):\n    raise RuntimeError\nif __name__ == '__main__': main()",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    (tmp_path / "failing.py").write_text("", "utf-8")
    lines = [f"{tmp_path}/{each}" for each in ("shadowed.py", "strict.py --n 3", "strict.py --m 3")]
    failed = [line for line, (code, _) in started(lines).items() if code]
    assert failed == [lines[0], lines[2]]


def test_command_lines_are_found_in_a_page():
    page = "By `python\nbenchmarks/a.py` and `python benchmarks/b.py --only\nNAME --seeds 3`. | x |"
    page += "\n<!-- figures: python benchmarks/c.py --seeds 1 -->"
    assert documented(page.replace("python\n", "python ")) == [
        "benchmarks/a.py",
        "benchmarks/b.py --only NAME --seeds 3",
        "benchmarks/c.py --seeds 1",
    ]
