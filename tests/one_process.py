"""Commands of another copy of the package, in a process of its own, but all in the same one.

A process that trains takes two seconds before it begins, because it imports scikit-learn. What it
compiles is kept as all that tests compile.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_PROGRAM = """
import json, os, sys
from pathlib import Path
from click.testing import CliRunner
from protonn_edge.cli import main

sys.path.append(sys.argv[2])
from kept import keep_builds

keep_builds()
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    print(json.dumps([done.exit_code, done.stdout, done.stderr]), flush=True)
"""


class Answer(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def answers_of(commands: Sequence[str], package: Path, folder: Path) -> dict[str, Answer]:
    """Run commands in a folder, one after the other, with the package that is in another folder.

    One that fails does not end the others; a bug of the package does.
    """
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            _PROGRAM,
            json.dumps([shlex.split(command) for command in commands]),
            str(Path(__file__).parent),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answers = (Answer(*json.loads(line)) for line in done.stdout.splitlines())
    return dict(zip(commands, answers, strict=True))
