"""Research: the optimizer of the ProtoNN paper, ProtoNN in floats, Bonsai, and basis images.

See `docs/research.md` and `docs/kinds.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from protonn_edge.system.extensions import Extension


class ResearchExtension(Extension):
    """The paper's optimizer; the kinds of classifiers are in `kinds`."""

    name: ClassVar[str] = "research"
    option_groups: ClassVar[Mapping[str, str]] = {"--optimizer": "Training", "--loss": "Training"}

    def program_of(self, model: Any) -> ModuleType | None:
        """Return the program of a model in floats."""
        from protonn_edge.extensions.research.floats import NAME

        if model.own_stages[-1].kind != NAME:
            return None
        from protonn_edge.extensions.research.floats import program

        return program


EXTENSION = ResearchExtension()
