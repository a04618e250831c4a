"""What the help of each command shows: its options in groups, and examples that it takes."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command_line import every_command, run

from protonn_edge import cli as commands
from protonn_edge.cli import main
from protonn_edge.cli.command import Command
from protonn_edge.cli.option_groups import group_of
from protonn_edge.system.extensions import extensions

IN_NO_GROUP = {"verbose", "as_json"}


@pytest.mark.parametrize("name", ["train", "tune"])
def test_every_option_of_a_long_list_is_in_a_group(name: str) -> None:
    options = [each for each in every_command()[name].params if isinstance(each, click.Option)]
    shown = [each for each in options if not each.hidden]
    assert {each.name for each in shown if not group_of(each)} <= IN_NO_GROUP
    text = run(name, "--help").stdout
    assert text.index("model:\n") < text.index("Features:\n") < text.index("Other options:\n")


def test_every_command_has_examples_that_it_takes() -> None:
    for name, command in every_command().items():
        assert isinstance(command, Command)
        assert command.examples, name
        for words in command.examples:
            with command.make_context(name, shlex.split(words), parent=click.Context(main)):
                assert f"protonn-edge {name} {words}".strip() in run(name, "--help").stdout


def _modules() -> Iterator[Path]:
    """Yield the modules of the command line, and those of commands of extensions."""
    folder = Path(commands.__file__).parent
    yield from folder.glob("*.py")
    yield from folder.parent.glob("extensions/*/commands/*.py")


def test_each_option_is_declared_once() -> None:
    texts = [
        ast.unparse(call.args[0])
        for path in _modules()
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "option"
        if isinstance(call.args[0], ast.Constant | ast.JoinedStr)
    ]
    texts = [text for text in texts if text != "None"]  # an output that is named alone
    assert len(texts) > (80 if extensions() else 60)  # which have options, too
    assert sorted(set(texts)) == sorted(texts)
