"""The options that rejection brings to commands; imports little, so that help is fast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from protonn_edge.cli.command import option
from protonn_edge.cli.options import SHARE
from protonn_edge.policy.rejection.rule import STATISTICS
from protonn_edge.system.lazy import later

if TYPE_CHECKING:
    from protonn_edge.policy.rejection.steps import ThresholdChoice
    from protonn_edge.training.targets import Target

_threshold_choice = later("protonn_edge.policy.rejection.steps", "ThresholdChoice")

_TITLE = "Rejection"

_RATES = {
    "train": 'Answer "unknown" to inputs unlike any class, and to about this share of all others, '
    "such as 1%.",
    "calibrate": "Share of valid inputs that may be rejected by mistake, such as 1%.  [default: "
    "the thresholds are not changed]",
}

NEEDS = {
    "train": {"--rejection-by": "--rejection --one-class"},
    "calibrate": {"--rejection-by": "--rejection"},
}
"""Options of commands that are without effect unless another one is given."""

EXAMPLES = {"calibrate": ("model.npz calibration.csv --rejection 1% -o rejecting.npz",)}
"""Arguments for the examples in the help of commands."""

NOT_SEARCHED = "--rejection"
"""Options that a search for the best kind of model does not take."""


def options(command: str) -> dict[str, Any]:
    """Declare the options of a command."""
    if command not in _RATES:
        return {}
    by = option(
        "Reject by score, distance or margin (the lead over the second-best score); repeat the "
        "option to divide SHARE among several of them.  [default: score]",
        click.Choice(STATISTICS),
        multiple=True,
        metavar="STATISTIC",
        group=_TITLE,
    )
    return {"rejection": option(_RATES[command], SHARE, group=_TITLE), "rejection_by": by}


def step(given: Mapping[str, Any], target: Target | None) -> ThresholdChoice | None:
    """Return what the options ask for, by default what a training's target does; or None."""
    rate, by = given["rejection"], given["rejection_by"]
    if target is not None:
        rate, by = rate or target.rejection_rate, by or target.rejection_by
    if rate is None:
        return None
    chosen: ThresholdChoice = _threshold_choice(rate, by or ("score",))
    return chosen
