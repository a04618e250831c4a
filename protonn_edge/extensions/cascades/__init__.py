"""Cascades: two models joined into one, on the command line and after a search.

The kind of classifier is in `kinds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension

if TYPE_CHECKING:
    from protonn_edge.learn.search.choice import Refitted
    from protonn_edge.learn.search.points import TrialPoints
    from protonn_edge.learn.search.store import Record


class CascadesExtension(Extension):
    """What joins two models."""

    name: ClassVar[str] = "cascades"

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the options of `train` that join a model to another."""
        if command != "train":
            return None
        from protonn_edge.extensions.cascades.commands import CascadeOptions

        return CascadeOptions

    def improved(
        self,
        points: TrialPoints,
        choice: str,
        trials: Sequence[Record],
        refitted: Refitted,
        seed: int,
    ) -> Refitted:
        """Return a cascade if it is faster than a search's model and a fast one is wanted."""
        from protonn_edge.extensions.cascades.tuning import faster_cascade

        return faster_cascade(points, choice, trials, refitted, seed)


EXTENSION = CascadesExtension()
