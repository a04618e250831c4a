"""Research: the optimizer of the ProtoNN paper, Bonsai, and basis images.

See `docs/research.md` and `docs/kinds.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from protonn_edge.system.extensions import Extension


class ResearchExtension(Extension):
    """The paper's optimizer; the kinds of classifiers are in `kinds`."""

    name: ClassVar[str] = "research"
    additions: ClassVar[Mapping[str, str]] = {"protonn": "paper.addition:PaperProtoNN"}
    option_groups: ClassVar[Mapping[str, str]] = {"--optimizer": "Training", "--loss": "Training"}


EXTENSION = ResearchExtension()
