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
    """Return which options of a command need others, or exclude them, with those that are added.

    The rules of added options come first, since they say more: an added option may need another
    one, which excludes an option of the command.
    """
    added = added_to(command).values()
    every = {flags: others for kind in added for flags, others in kind.NEEDS.items()}
    separate = {flags: others for kind in added for flags, others in kind.APART.items()}
    return every | dict(needs or {}), separate | dict(apart or {})
