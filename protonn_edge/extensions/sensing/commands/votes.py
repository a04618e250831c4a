"""The option for what is reported of the classes of windows, on a board or on this computer."""

from __future__ import annotations

import click

from protonn_edge.cli.command import option
from protonn_edge.cli.options import FiniteRange, Qualified
from protonn_edge.extensions.sensing import VOTES_LIMIT

Votes = tuple[int, dict[str, float]]

VOTES = option(
    "With --sensor or --hop: report the majority class of N windows; after a report, report no "
    "other class for X seconds.  [default: 1,refractory=0]",
    Qualified(click.IntRange(1, VOTES_LIMIT), "N", refractory=FiniteRange(0, 3600)),
)


def votes_of(given: Votes | None) -> tuple[int, float]:
    """Return how many windows vote, and for how many seconds a report remains."""
    votes, settings = given or (1, {})
    return votes, settings.get("refractory", 0.0)
