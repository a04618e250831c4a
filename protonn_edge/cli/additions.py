"""What extensions and rules add to commands."""

from __future__ import annotations

from protonn_edge.model.rule_kinds import options_of_rules
from protonn_edge.system.extensions import AddedOptions, extensions


def added_to(command: str) -> dict[str, type[AddedOptions]]:
    """Return what rules of a policy and extensions add to a command, by their names."""
    found = {each.name: each.options(command) for each in extensions()}
    return options_of_rules(command) | {name: kind for name, kind in found.items() if kind}
