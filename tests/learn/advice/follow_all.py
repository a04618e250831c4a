"""Follow the advice of every message that the command lines of the tests bring, through a shell.

    python tests/learn/advice/follow_all.py [PART]

The lines are those of ``commands.txt``, of all cases of the corpora, and of ``refused.txt``. Prints
each line, each piece of advice with the command line that it makes, and what came; then how many
messages gave advice, and what came of it. PART is a text that lines have.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

import click
from command_line import run
from learn.advice.following import OWN, follow
from learn.advice.inputs import corpus_lines, refused_lines
from learn.advice.workspace import command_lines, make


def main(part: str = "") -> int:
    """Follow all lines with a part; return how much advice was at fault."""
    total, messages, lines = Counter[str](), 0, 0
    for line, own in _lines(part):
        if part not in line:
            continue
        lines += 1
        found = follow(line, own=own)
        messages += bool(found)
        if found:
            click.echo(f"$ {line}")
        for followed in found:
            total[followed.kind] += 1
            mark = "FAULT" if followed.faulty else "     "
            click.echo(f"  {mark} {followed.advice.line or followed.advice.text.strip()}")
            click.echo(f"          {followed.came}")
    came = ", ".join(f"{number} {kind}" for kind, number in total.most_common())
    click.echo(f"{lines} lines, {messages} messages with {total.total()} pieces of advice: {came}")
    return total["faults"]


def _lines(part: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each command line in a folder with its files, and what people have for open options."""
    made = set[str]()
    for each in command_lines():
        line = each.removeprefix("~ ")
        if part in line:
            make(line, lambda text: run(*shlex.split(text)), made)
        yield line, OWN
    for place in (corpus_lines, refused_lines):
        with TemporaryDirectory() as folder:
            os.chdir(folder)
            yield from ((line, {}) for line in place(Path(folder)))


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(min(main(*sys.argv[1:]), 1))
