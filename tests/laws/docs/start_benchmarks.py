"""Start command lines of benchmarks, and end each where its work would begin.

Reads a JSON list of lists of words, a script and its arguments, and writes a list with an exit code
and the output of each. The lines of a script run in a process of their own, as `python SCRIPT ...`
starts it: the folder of the script is the first place to import from, and no module of it is there
before the first of them. The arguments are modules that take long to import, and that are neither
there nor in the folder of the tests: they are imported once, before.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from traceback import print_exc

import click

OF_ANY_VALUE = ("NAME",)  # what pages write where a reader chooses


def start(lines: list[list[str]], answer: Connection) -> None:
    """Run a script with arguments, once for each line, and send the exit codes and outputs."""
    convert = click.Choice.convert

    def convert_or_leave(self: click.Choice, value: str, *others: object) -> object:
        return value if value in OF_ANY_VALUE else convert(self, value, *others)

    click.Choice.convert = convert_or_leave  # type: ignore[assignment,method-assign]
    click.Command.invoke = lambda *_: None  # type: ignore[assignment,method-assign]
    sys.path[0] = str(Path(lines[0][0]).resolve().parent)
    answer.send([started(words) for words in lines])


def started(words: list[str]) -> tuple[int, str]:
    """Return the exit code and the output of a line."""
    sys.argv = words
    said, code = io.StringIO(), 0
    with redirect_stdout(said), redirect_stderr(said):
        try:
            runpy.run_path(str(Path(words[0]).resolve()), run_name="__main__")
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:  # noqa: BLE001 - as Python reports it
            print_exc()
            code = 1
    return code, said.getvalue()


def main() -> None:
    """Start each line that standard input lists."""
    sys.path[0] = os.devnull
    for name in sys.argv[1:]:
        import_module(name)
    lines = json.load(sys.stdin)
    done: dict[str, tuple[int, str]] = {}
    for script in dict.fromkeys(words[0] for words in lines):
        own = [words for words in lines if words[0] == script]
        received, sent = get_context("fork").Pipe(duplex=False)
        process = get_context("fork").Process(target=start, args=(own, sent))
        process.start()
        sent.close()
        done |= zip(map(str, own), received.recv(), strict=True)
        process.join()
    sys.stdout.write(json.dumps([done[str(words)] for words in lines]))


if __name__ == "__main__":
    main()
