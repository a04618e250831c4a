"""The common part of commands that try what they build before they write it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from protonn_edge.cli.command import Output
from protonn_edge.codegen.verification.tryout import Tried, WrongAnswers


def say_tried(out: Output, tried: Tried) -> None:
    """Print the tried points, or the reason for none."""
    out.say(f"tried: {tried}" if tried.n else str(tried))


@contextmanager
def refused_wrong_answers(out: Output, record: Mapping[str, object]) -> Iterator[None]:
    """Finish with the known facts and the mismatches if the build answers wrongly."""
    try:
        yield
    except WrongAnswers as failure:
        out.finish({**record, "tried": failure.tried.to_json()}, failure)
