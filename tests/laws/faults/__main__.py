"""Try all operations of all commands: about an hour. Words choose commands."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from laws.faults.file_operations import FAULTS, Law
from laws.faults.writing_commands import COMMANDS, warmed_up

options = argparse.ArgumentParser(prog="python -m laws.faults", description=__doc__)
options.add_argument("words", nargs="*", help="parts of commands' names")
options.add_argument("--every", type=int, default=1, help="try each n-th operation")
options.add_argument("--fault", choices=FAULTS, action="append", help="only this one; repeatable")
given = options.parse_args()

warmed_up()
failures = 0
for command in COMMANDS:
    if given.words and not any(word in command.name for word in given.words):
        continue
    with TemporaryDirectory(prefix="faults-") as place:
        law, tried = Law(command, Path(place)), 0
        for fault in given.fault or FAULTS:
            for at in law.places(fault)[:: given.every]:
                tried += 1
                for each in law.broken(fault, at):
                    failures += 1
                    sys.stdout.write(f"{each}\n")
    sys.stdout.write(f"{command.name}: {len(law.operations)} operations, {tried} faults\n")
    sys.stdout.flush()
sys.stdout.write(f"{failures} failures\n")
sys.exit(failures > 0)
