"""The options that rejection brings to commands; imports little, so that help is fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import click

from protonn_edge.cli.command import option
from protonn_edge.cli.options import SHARE
from protonn_edge.cli.train_additions import TrainAddition
from protonn_edge.learn.search import BEST
from protonn_edge.policy.rejection import STATISTICS, Statistic

if TYPE_CHECKING:
    from protonn_edge.learn.targets import Target
    from protonn_edge.policy.rejection.steps import ThresholdChoice


_TITLE = "Training"


@dataclass(frozen=True)
class RejectionOptions(TrainAddition):
    """The options as they were given."""

    NEEDS: ClassVar[Mapping[str, str]] = {"--rejection-by": "--rejection --one-class"}
    APART: ClassVar[Mapping[str, str]] = {"--rejection": f"--classifier={BEST}"}

    calibrates: ClassVar[bool] = True

    rejection: float | None = option(
        'Answer "unknown" to inputs unlike any class, and to about this share of all others, such '
        "as 1%.",
        SHARE,
        group=_TITLE,
    )
    rejection_by: tuple[Statistic, ...] = option(
        "Reject by score, distance or margin (the lead over the second-best score); repeatable, to "
        "divide SHARE.  [default: score]",
        click.Choice(STATISTICS),
        multiple=True,
        metavar="STATISTIC",
        group=_TITLE,
    )

    def step(self, target: Target | None) -> ThresholdChoice | None:
        """Return what the options ask for, by default what a training's target does; or None."""
        rate, by = self.rejection, [*dict.fromkeys(self.rejection_by)]
        if target is not None:
            rate, by = (
                rate or target.rejection_rate,
                by or cast("list[Statistic]", [*target.rejection_by]),
            )
        if rate is None:
            return None
        from protonn_edge.policy.rejection.steps import ThresholdChoice

        return ThresholdChoice(rate, tuple(by) or ("score",))


"""What this rule adds to commands."""
