"""What extensions and rules declare as names is there, which no import would notice."""

from __future__ import annotations

import click
import pytest

from protonn_edge.cli import _ORDER, COMMANDS, main
from protonn_edge.model.registry import KINDS
from protonn_edge.model.rule_kinds import RuleKind, rule_kinds
from protonn_edge.system.extensions import AddedOptions, Extension, extensions, named_by

ADDING: dict[str, RuleKind | Extension] = {
    each.name: each for each in (*rule_kinds(), *extensions())
}


@pytest.mark.parametrize("name", ADDING)
def test_options_are_those_of_a_command_and_a_class(name: str) -> None:
    for command, place in ADDING[name].options.items():
        assert command in _ORDER
        assert issubclass(named_by(ADDING[name], place), AddedOptions)


def test_additions_are_those_of_a_class_to_another_extension_or_a_kind() -> None:
    for each in extensions():
        assert each.additions.keys() <= {*ADDING, *KINDS}
        assert all(isinstance(named_by(each, place), type) for place in each.additions.values())


def test_options_with_a_group_are_those_of_commands() -> None:
    found = (main.get_command(click.Context(main), name) for name in COMMANDS)
    flags = {flag for each in found if each for param in each.params for flag in param.opts}
    assert {flag for each in extensions() for flag in each.option_groups} <= flags
