"""Cascades: two models joined into one, on the command line and after a search.

The kind of classifier is in `kinds`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension


class CascadesExtension(Extension):
    """What joins two models."""

    name: ClassVar[str] = "cascades"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the options of `train` that join a model to another."""
        if command != "train":
            return None
        from protonn_edge.extensions.cascades.commands import CascadeOptions

        return CascadeOptions

    def improved(self, *search: Any) -> Any:
        """Return a cascade if it is faster than a search's model and a fast one is wanted."""
        from protonn_edge.extensions.cascades.tuning import faster_cascade

        return faster_cascade(*search)


EXTENSION = CascadesExtension()
