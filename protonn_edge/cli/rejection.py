"""Rejection options that `train` and `calibrate` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from protonn_edge.chain.decision.rejection import STATISTICS, Statistic
from protonn_edge.chain.model import Model
from protonn_edge.cli.quantities import Share

_F = TypeVar("_F", bound=Callable[..., Any])

DEFAULT_STATISTICS: tuple[Statistic, ...] = ("score",)

by_option = click.option(
    "--rejection-by",
    "by",
    multiple=True,
    type=click.Choice(STATISTICS),
    help="Reject by the best score, the distance to the nearest prototype, or the lead over the "
    "second-best score; several share the rate.  [default: score]",
)


def rejection_option(text: str, *, required: bool = False) -> Callable[[_F], _F]:
    """Return the option for the rate of false alarms."""
    return click.option("--rejection", "rate", type=Share(), required=required, help=text)


def rejection_facts(model: Model) -> list[tuple[str, str]]:
    """Return rows with the conditions for "unknown"; none if the model never rejects."""
    rejection = model.rejection
    if rejection is None:
        return []
    conditions = []
    if rejection.score > 0:
        conditions.append(f"the winner's score is below {rejection.score:.4g}")
    if rejection.distance is not None:
        conditions.append(f"no prototype is within {rejection.distance:.3g} RBF widths")
    if rejection.margin > 0:
        conditions.append(f"its lead over the second is below {rejection.margin:.4g}")
    return [("unknown if", ", or ".join(conditions))]


def rejection_record(model: Model) -> dict[str, Any] | None:
    """Return the thresholds for a command's JSON; None if there are none."""
    rejection = model.rejection
    if rejection is None:
        return None
    return {
        "score": rejection.score or None,
        "distance": rejection.distance,
        "margin": rejection.margin or None,
    }
