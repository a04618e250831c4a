"""Agents: a skill that explains the commands to them, and a server of tools with limits.

See `docs/agents.md`.
"""

from __future__ import annotations

from typing import ClassVar

from protonn_edge.system.extensions import Extension


class AgentsExtension(Extension):
    """The commands `skill` and `mcp`."""

    name: ClassVar[str] = "agents"


EXTENSION = AgentsExtension()
