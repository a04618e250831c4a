"""The inputs of other tests that bring messages, with the command lines that read them.

A case of the corpus that reads a table or a recording in Python is read by `data` or `windows`
here, and by `train` if it is refused. Other lines are those of ``refused.txt`` in `tests/cli`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cli.given_files import make_files
from cli.test_refused_lines import ENDLESS, ROWS
from command_line import run
from laws.corpus.cases import OUTPUTS, Reading, some_cases

_AS_COMMANDS = {"table": "data", "numbers": "data", "recording": "windows"}
_BOARDS = ("build", "emulate", "hil", "live", "monitor", "record", "studio", "tune", "verify")


def corpus_lines(folder: Path, every: int = 1, part: int = 0) -> Iterator[str]:
    """Yield the command lines of all cases of the corpus, or of a part, one of so many cases."""
    for number, case in some_cases(every, part):
        given = folder / str(number)
        given.mkdir()
        path = case.write(given)
        for reading in case.readings:
            words = _words(reading.filled(case._filled), path)
            if words:
                yield shlex.join(words)
            if words[:1] in (["train"], ["windows"]) and not reading.is_refused:
                run(*words)  # later readings use what it writes
        for path in Path().glob("*.npz"):
            path.unlink()


def _words(reading: Reading, path: Path) -> list[str]:
    """Return the words of the command that reads files as a case does, if there is one."""
    command = _AS_COMMANDS.get(reading.reader, reading.reader)
    if reading.reader == "table" and reading.is_refused:
        command = "train"
    if command not in OUTPUTS:
        return []
    asked = replace(reading, reader=command, options=reading.options.replace("numbers", ""))
    words = [str(word) for word in asked._command(path, Path())]
    if reading.reader == "recording":
        words += ["--window", "8"]
    if reading.reader in _AS_COMMANDS:
        words += ["--target", "value"] * ("numbers" in (reading.reader, reading.options))
    return words


def refused_lines(folder: Path, *, boards: bool = True) -> Iterator[str]:
    """Yield the command lines that cannot be meant, also those of extensions."""
    make_files(folder)
    for line, *_ in ROWS:
        if not ENDLESS.search(line) and (boards or line.split()[0] not in _BOARDS):
            yield line
