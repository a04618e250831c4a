"""What the help of each command shows: its options in groups, and examples that it takes."""

from __future__ import annotations

import shlex

import click
import pytest
from command_line import every_command, run

from protonn_edge.cli import EXAMPLES, main
from protonn_edge.cli.command import ParameterOption
from protonn_edge.cli.option_groups import group_of

IN_NO_GROUP = {"verbose", "as_json"}


@pytest.mark.parametrize("name", ["train", "tune"])
def test_every_option_of_a_long_list_is_in_a_group(name: str) -> None:
    options = [each for each in every_command()[name].params if isinstance(each, click.Option)]
    assert {each.name for each in options if not group_of(each)} <= IN_NO_GROUP
    text = run(name, "--help").stdout
    assert text.index("Data:\n") < text.index("Images:\n") < text.index("Other options:\n")


def test_every_command_has_examples_that_it_takes() -> None:
    for name, command in every_command().items():
        assert EXAMPLES[name], name
        for words in EXAMPLES[name]:
            with command.make_context(name, shlex.split(words), parent=click.Context(main)):
                assert f"protonn-edge {name} {words}".strip() in run(name, "--help").stdout


def test_a_parameter_of_python_is_an_option_of_that_name() -> None:
    train = every_command()["train"]
    words = ["x.csv", "-o", "x.npz"]
    for option in train.params:
        if isinstance(option, ParameterOption):
            ((python, command_line),) = option.names().items()
            assert f"--{command_line}" in option.opts
            assert python.replace("-", "_") == option.name
    named = ["--n-projections", "7", "--input-noise", "0.25", "--sparsity-projection=0.5"]
    values = train.make_context("train", [*words, *named]).params
    others = ["--projection-dim", "7", "--noise", "0.25", "--lambda-w=0.5"]
    assert values == train.make_context("train", [*words, *others]).params
    assert values["n_projections"] == 7
