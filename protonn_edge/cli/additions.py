"""What extensions and rules add to commands: options, and which of them need each other."""

from __future__ import annotations

from collections.abc import Mapping

from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.system.extensions import AddedOptions, extensions


def added_to(command: str) -> dict[str, type[AddedOptions]]:
    """Return what extensions and rules of a policy add to a command, by their names."""
    found = {f"policy.{each.name}": each.options(command) for each in rule_kinds()}
    found |= {each.name: each.options(command) for each in extensions()}
    return {name: kind for name, kind in found.items() if kind is not None}


def with_added(
    command: str, needs: Mapping[str, str] | None, apart: Mapping[str, str] | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return which options of a command need others, or exclude them, with those that are added."""
    every, separate = dict(needs or {}), dict(apart or {})
    for added in added_to(command).values():
        every |= added.NEEDS
        separate |= added.APART
    return every, separate


def examples_added(command: str) -> list[str]:
    """Return the examples of a command with options that are added."""
    added = added_to(command).values()
    return [example for kind in added for example in kind.EXAMPLES.get(command, ())]
