"""What `build` and `export` share: the option to try what was made, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from protonn_edge.cli.command import Output
from protonn_edge.verification.tryout import Tried, WrongAnswers

try_option = click.option(
    "--try/--no-try",
    "tries",
    default=True,
    show_default=True,
    help="Let what was made answer a few points on the emulated board before it is written, and "
    "compare every score with NumPy.",
)


def say_tried(out: Output, tried: Tried) -> None:
    """Print the points that were tried, or why there were none."""
    out.say(f"tried: {tried}" if tried.n else str(tried))


@contextmanager
def refused_wrong_answers(out: Output, record: Mapping[str, Any]) -> Iterator[None]:
    """Finish with what is known so far, and with the numbers, if what was made answers wrongly."""
    try:
        yield
    except WrongAnswers as failure:
        out.finish({**record, "tried": failure.tried.to_json()}, failure)
