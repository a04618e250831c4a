"""What extensions and rules add to commands: options, and which of them need each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from protonn_edge.model.policy import rule_modules
from protonn_edge.system.extensions import brought


class AddedOptions:
    """The options of an extension or a rule for a command: the defaults of a dataclass's fields."""

    # for `protonn_edge.cli.command.command`
    NEEDS: ClassVar[Mapping[str, str]] = {}
    APART: ClassVar[Mapping[str, str]] = {}


def added_to(command: str) -> dict[str, Any]:
    """Return what extensions and rules of a policy add to a command, by their names.

    Both bring classes of `AddedOptions`: extensions at the point "command NAME", and the module
    `commands` of a rule in its `COMMANDS`.
    """
    rules = {module.__package__: module.COMMANDS for module in rule_modules("commands")}
    of_rules = {str(name): each[command] for name, each in rules.items() if command in each}
    return {**of_rules, **brought(f"command {command}")}


def with_added(
    command: str, needs: Mapping[str, str] | None, apart: Mapping[str, str] | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return which options of a command need others, or exclude them, with those that are added."""
    every, separate = dict(needs or {}), dict(apart or {})
    for added in added_to(command).values():
        every |= added.NEEDS
        separate |= added.APART
    return every, separate
