"""Cascades: two models joined into one, on the command line and after a search.

The kind of classifier is in `kinds`.
"""

from __future__ import annotations

from typing import ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension


class CascadesExtension(Extension):
    """What joins two models."""

    name: ClassVar[str] = "cascades"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the options of `train` that join a model to another, and what `tune` tries."""
        if command not in ("train", "tune"):
            return None
        from protonn_edge.extensions.cascades import commands

        return commands.CascadeOptions if command == "train" else commands.CascadeOfSearch


EXTENSION = CascadesExtension()
