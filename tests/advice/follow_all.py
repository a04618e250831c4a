"""Follow the advice of every message that a line of ``commands.txt`` brings, through a shell.

    python tests/advice/follow_all.py [PART]

Prints each command line, each piece of advice with the command line that it makes, and what came;
then how many messages gave advice, and how many of it was at fault. PART is a text that lines have.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

import click
from advice.following import follow
from advice.workspace import command_lines, make
from command_line import run


def main(part: str = "") -> int:
    """Follow all lines with a part; return how much advice was at fault."""
    made, messages, pieces, faults, open_ones = set[str](), 0, 0, 0, 0
    for each in command_lines():
        line = each.removeprefix("~ ")
        if part not in line:
            continue
        make(line, lambda text: run(*shlex.split(text)), made)
        click.echo(f"$ {line}")
        found = follow(line)
        messages += bool(found)
        for followed in found:
            pieces, faults = pieces + 1, faults + followed.faulty
            open_ones += not followed.advice.line
            mark = "FAULT" if followed.faulty else "     "
            click.echo(f"  {mark} {followed.advice.line or followed.advice.text.strip()}")
            click.echo(f"          {followed.came}")
    click.echo(
        f"{messages} messages with {pieces} pieces of advice: {pieces - faults - open_ones} work, "
        f"{open_ones} are left to the user, {faults} are at fault"
    )
    return faults


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(min(main(*sys.argv[1:]), 1))
