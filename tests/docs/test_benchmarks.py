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
        if path.name != "run.py" and "__main__" in path.read_text("utf-8")
    )
    return {*scripts, *(f"benchmarks/run.py {name}" for name in index())}


def started(lines: list[str]) -> dict[str, str]:
    """Return what each line printed that did not get as far as its work."""
    answers = subprocess.run(
        [sys.executable, str(STARTER)],
        cwd=CHECKOUT,
        input=json.dumps([shlex.split(line) for line in lines]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answers.returncode == 0, answers.stderr
    done = zip(lines, json.loads(answers.stdout), strict=True)
    return {line: said for line, (code, said) in done if code != 0}


@extension_parts.needs("conversion")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork; to run: use Linux or macOS")
def test_every_benchmark_starts_and_takes_the_options_of_its_page():
    on_pages = {line for page in PAGES for line in documented(page.read_text("utf-8"))}
    assert len(on_pages) > 40
    others = {each for each in commands() if not any(line.startswith(each) for line in on_pages)}
    assert started(sorted(on_pages | {f"{each} --help" for each in others})) == {}


def test_every_benchmark_is_named_by_the_pages_of_its_entry():
    for name, entry in index().items():
        for page in entry.pages:
            text = " ".join((CHECKOUT / "docs" / page).read_text("utf-8").split())
            assert f"benchmarks/run.py {name}" in text, f"{page} does not cite {name}"


def test_every_benchmark_that_a_page_names_has_it_in_its_entry():
    entries, names = index(), re.compile(r"benchmarks/run\.py (\w+)")
    for page in PAGES:
        for name in set(names.findall(page.read_text("utf-8"))):
            assert page.name in {Path(each).name for each in entries[name].pages}, page.name


def test_stored_rows_are_on_the_pages_that_show_them():
    entries, stored = index(), json.loads((FOLDER / "stored.json").read_text("utf-8"))
    for command, rows in stored.items():
        name, _, case, *_ = shlex.split(command)
        for page, own in entries[name].pages.items():
            text = (CHECKOUT / "docs" / page).read_text("utf-8")
            for row in rows if own is None or case in own else ():
                cells = [row[heading] for heading in entries[name].shown]
                found = any(all(cell in line for cell in cells) for line in text.splitlines())
                assert found, f"{page} has no line with {cells}, the row of {command}"


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
    assert sorted(started(lines)) == [lines[0], lines[2]]


def test_command_lines_are_found_in_a_page():
    page = "By `python\nbenchmarks/a.py` and `python benchmarks/b.py --only\nNAME --seeds 3`. | x |"
    page += "\n<!-- figures: python benchmarks/c.py --seeds 1 -->"
    assert documented(page.replace("python\n", "python ")) == [
        "benchmarks/a.py",
        "benchmarks/b.py --only NAME --seeds 3",
        "benchmarks/c.py --seeds 1",
    ]
