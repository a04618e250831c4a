"""The options for the word that follows from windows, on a board or on this computer."""

from __future__ import annotations

from typing import Any

import click

from protonn_edge.cli.command import option
from protonn_edge.cli.options import FiniteRange, Qualified, each_once
from protonn_edge.extensions.sensing import VOTES_LIMIT

Votes = tuple[int, dict[str, float]]
Mark = tuple[str, int]

_PERCENT = click.IntRange(0, 100)


class _Mark(click.ParamType[Mark]):
    """A per cent, with the class whose mark it is in front; without one, of every class."""

    name = "[CLASS=]N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Mark:
        """Return the class, or "", and its mark."""
        name, equals, percent = str(value).rpartition("=")  # a name may have this sign in it
        if equals and not name:
            self.fail(f"{value!r} has no class before '='; give {self.name}", param, ctx)
        return name, int(_PERCENT(percent, param, ctx))


VOTES = option(
    "With --sensor or --hop: report the class of the largest mean share in N windows; after a "
    "report, report no other class for X seconds.  [default: 1,refractory=0]",
    Qualified(click.IntRange(1, VOTES_LIMIT), "N", refractory=FiniteRange(0, 3600)),
)
MARKS = option(
    'With --sensor or --hop: report "unknown" instead of a class whose mean share is below N per '
    "cent; repeatable.  [default: 0]",
    _Mark(),
    flag="--mark",
    multiple=True,
    callback=each_once,
)


def votes_of(given: Votes | None) -> tuple[int, float]:
    """Return how many windows have a mean, and for how many seconds a report remains."""
    votes, settings = given or (1, {})
    return votes, settings.get("refractory", 0.0)
