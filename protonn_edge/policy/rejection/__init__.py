"""Rejection: the answer "unknown" to points that are unlike all classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from protonn_edge.model.rule_kinds import RuleKind

if TYPE_CHECKING:
    from protonn_edge.policy.rejection.rule import Rejection
    from protonn_edge.report.content import SectionOfRun

Statistic = Literal["score", "distance", "margin"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)


class RejectionKind(RuleKind):
    """The thresholds of statistics of the scores."""

    name: ClassVar[str] = "rejection"
    array: ClassVar[str] = "rejection"
    keys: ClassVar[tuple[str, ...]] = ("rejection",)
    options: ClassVar[Mapping[str, str]] = {"train": "RejectionOptions"}

    def rule(self) -> type[Rejection]:
        """Return the rule."""
        from protonn_edge.policy.rejection.rule import Rejection

        return Rejection

    def sections(self) -> tuple[SectionOfRun, ...]:
        """Return the section about points of no class."""
        from protonn_edge.policy.rejection.report import SECTIONS

        return SECTIONS


KIND = RejectionKind()
