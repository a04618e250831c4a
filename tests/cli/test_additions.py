"""What extensions and rules add belongs to commands, and to what asks for it."""

from __future__ import annotations

import click
import pytest

from protonn_edge.cli import _ORDER, COMMANDS, main
from protonn_edge.kinds.protonn.additions import ProtoNNAddition
from protonn_edge.model.rule_kinds import options_of_rules, rule_kinds
from protonn_edge.system.extensions import AddedOptions, Extension, additions_to, extensions

ADDING: dict[str, Extension] = {each.name: each for each in extensions()}


@pytest.mark.parametrize("name", ADDING)
def test_options_of_a_command_are_a_class(name: str) -> None:
    for command in _ORDER:
        added = ADDING[name].options(command)
        assert added is None or issubclass(added, AddedOptions)


def test_options_that_rules_add_are_classes_of_commands() -> None:
    added = {command: options_of_rules(command) for command in _ORDER}
    assert all(
        issubclass(each, AddedOptions) for kinds in added.values() for each in kinds.values()
    )
    assert {"policy.value", "policy.rejection"} == added["train"].keys()
    listed = {command for each in rule_kinds() for command in each.options}
    assert listed == {command for command in _ORDER if added[command]}


def test_additions_of_another_class_are_noticed() -> None:
    added = additions_to("protonn", ProtoNNAddition)
    assert added.keys() <= {each.name for each in extensions()}
    if added:
        with pytest.raises(AssertionError):
            additions_to("protonn", AddedOptions)


def test_options_with_a_group_are_those_of_commands() -> None:
    found = (main.get_command(click.Context(main), name) for name in COMMANDS)
    flags = {flag for each in found if each for param in each.params for flag in param.opts}
    assert {flag for each in extensions() for flag in each.option_groups} <= flags
