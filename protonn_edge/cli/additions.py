"""What extensions and rules add to commands: options, and which of them need each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from protonn_edge.model.rule_kinds import options_of_rules
from protonn_edge.system.extensions import AddedOptions, extensions


def added_to(command: str) -> dict[str, type[AddedOptions]]:
    """Return what rules of a policy and extensions add to a command, by their names."""
    found = {each.name: each.options(command) for each in extensions()}
    return options_of_rules(command) | {name: kind for name, kind in found.items() if kind}


def with_added(
    added: Iterable[type[AddedOptions]], needs: Mapping[str, str], apart: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return which options of a command need others, or exclude them, with those that are added.

    The rules of added options come first, since they say more: an added option may need another
    one, which excludes an option of the command.
    """
    added = [*added]
    every = {flags: others for kind in added for flags, others in kind.NEEDS.items()}
    separate = {flags: others for kind in added for flags, others in kind.APART.items()}
    return every | {**needs}, separate | {**apart}
