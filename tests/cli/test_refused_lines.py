"""A command line that cannot be meant is refused with one sentence, and nothing is written.

``mistyped.txt`` has command lines as people mistype them, and ``refused.txt`` others, each with the
words of the sentence that matter: ``COMMAND -> WORDS``, or ``=>`` for a check that fails, and
``WORDS ... WORDS`` for several. A line that ends with ``...`` is the beginning of the lines below
it that begin with ``...``. Extensions have such files, too. All are run with ``--json``, which also
prints the sentence as an object.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.given_files import make_files
from command_line import run, takes_json
from extension_parts import folders

EXIT_CODES = {"->": 2, "=>": 1}
ENDLESS = re.compile(r"\b(pipe|zero)/|-o (piped|zeros)$")


def lines_of(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield command lines with the exit codes and the words that are expected."""
    begin = ""
    for line in path.read_text("utf-8").splitlines():
        if row := re.fullmatch("(.+?) ([-=]>) (.+)", line):
            yield re.sub(r"^\.\.\.", begin, row[1]), EXIT_CODES[row[2]], row[3]
        elif line.endswith(" ..."):
            begin = line.removesuffix(" ...")


ROWS = [
    row
    for folder in folders("cli")
    for path in sorted(folder.glob("*.txt"))
    for row in lines_of(path)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("given")
    make_files(made)
    return made


def _state(folder: Path) -> list[tuple[str, int, int]]:
    """Return the names, sizes and times of all files."""
    states = ((str(path), path.lstat()) for path in sorted(folder.rglob("*")))
    return [(name, state.st_size, state.st_mtime_ns) for name, state in states]


@pytest.mark.parametrize(("line", "exit_code", "said"), ROWS, ids=[row[0] for row in ROWS])
def test_it_is_one_sentence_and_nothing_is_written(
    line: str, exit_code: int, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ENDLESS.search(line) and not Path("/dev/zero").exists():
        pytest.skip("makes pipes and needs /dev/zero: run it on Linux")
    monkeypatch.chdir(folder)
    before, words = _state(folder), shlex.split(line)
    if takes_json(words[0]) and "--json" not in words:
        words.insert(1, "--json")
    done = run(*words)
    (sentence,) = done.stderr.strip().splitlines()
    assert done.exit_code == exit_code
    printed = [json.loads(text) for text in done.stdout.splitlines()]
    assert [[*record.items()][:2] for record in printed] == [
        [("ok", False), ("error", sentence.removeprefix("error: "))]
    ] * ("--json" in words)
    assert sentence.startswith("error: ")
    for part in said.split(" ... "):
        assert part in sentence
    assert _state(folder) == before
