"""The command protonn-edge, run in this process, and what its answers have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import click
import pytest
from click.testing import CliRunner, Result
from json_records import check_record

from protonn_edge.cli import COMMANDS, command, main
from protonn_edge.cli.command import _refusal
from protonn_edge.system.extensions import extensions

_UNKNOWN = re.compile(r"no such (?:command|option) ('[^']+')")


def every_command() -> dict[str, click.Command]:
    """Return all commands by their names."""
    found = {name: main.get_command(click.Context(main), name) for name in COMMANDS}
    assert None not in found.values()
    return found


def takes_json(name: str) -> bool:
    """Return whether there is a command of this name with the option --json."""
    command = main.get_command(click.Context(main), name)
    return command is not None and any("--json" in each.opts for each in command.params)


def run(*arguments: object, stdin: str | None = None) -> Result:
    """Run the command to its end, good or bad; `stdin` is the text of a pipe.

    If the command refuses, the error is the context of the result's exception.
    """
    errors: list[Exception] = []

    def noted(error: Exception) -> tuple[str, int] | None:
        errors.append(error)
        return _refusal(error)

    with patch.object(command, "_refusal", noted):
        done = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    if errors and done.exception is not None:
        done.exception.__context__ = errors[-1]
    if done.exit_code == 2:
        skip_if_of_an_extension(done.stderr)
    return done


def skip_if_of_an_extension(said: str) -> None:
    """Skip a test whose command or option the core alone does not have.

    Without extensions, it is one of theirs; where all are installed, nothing is skipped.
    """
    unknown = _UNKNOWN.search(said)
    if unknown and not extensions():
        pytest.skip(f"needs the extension that has {unknown[1]}; to run: install it")


def skip_unless_known(words: Sequence[str]) -> None:
    """Skip a test whose command, or one of its options, the core alone does not have."""
    command = every_command().get(words[0])
    options = {name for each in command.params for name in each.opts} if command else set()
    unknown = [word for word in words if word.startswith("-") and word not in options]
    if (command is None or unknown) and not extensions():
        pytest.skip(f"needs the extension of {' '.join(words)!r}; to run: install it")


def succeed(*arguments: object) -> Result:
    """Run the command, which succeeds."""
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done


def run_json(*arguments: object) -> dict[str, Any]:
    """Run the command, which succeeds, with ``--json``; return the one object that it prints.

    It has the entries that docs/commands.md lists.
    """
    done = succeed(*arguments, "--json")
    (line,) = done.stdout.splitlines()
    record = json.loads(line)
    assert isinstance(record, dict)
    check_record(str(arguments[0]), record)
    return record


def refusal(done: Result, exit_code: int = 2) -> str:
    """Return the sentence that a command said, and nothing else, when it refused."""
    assert done.exit_code == exit_code, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


def assert_one_sentence(done: Result, *words: str, exit_code: int = 2) -> None:
    """Check that a command refused with one sentence, and that these words are in it."""
    sentence = refusal(done, exit_code)
    for word in words:
        assert word in sentence
