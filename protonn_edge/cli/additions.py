"""What extensions add to commands: options, and which of them need each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from protonn_edge.extensions import brought


class AddedOptions:
    """The options of an extension for one command: a dataclass with them as defaults of fields."""

    # for `protonn_edge.cli.command.command`
    NEEDS: ClassVar[Mapping[str, str]] = {}
    APART: ClassVar[Mapping[str, str]] = {}


def added_to(command: str) -> dict[str, Any]:
    """Return what extensions add to a command, by their names.

    At the point "command NAME", they bring classes of `AddedOptions`.
    """
    return brought(f"command {command}")


def with_added(
    command: str, needs: Mapping[str, str] | None, apart: Mapping[str, str] | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return which options of a command need others, or exclude them, with those that are added."""
    every, separate = dict(needs or {}), dict(apart or {})
    for added in added_to(command).values():
        every |= added.NEEDS
        separate |= added.APART
    return every, separate
