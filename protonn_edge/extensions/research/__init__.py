"""Research: the optimizer of the ProtoNN paper, ProtoNN in floats, Bonsai, and basis images.

See `docs/research.md` and `docs/kinds.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from protonn_edge.system.extensions import Extension


class ResearchExtension(Extension):
    """The paper's optimizer; the kinds of classifiers are in `kinds`."""

    name: ClassVar[str] = "research"
    option_groups: ClassVar[Mapping[str, str]] = {"--optimizer": "Training", "--loss": "Training"}

    def addition_to(self, name: str) -> object:
        """Return the program of models in floats."""
        if name != "planner":
            return None
        from protonn_edge.codegen.planner import OwnProgram
        from protonn_edge.extensions.research.floats import NAME

        return OwnProgram(NAME, "protonn_edge.extensions.research.floats.program")


EXTENSION = ResearchExtension()
