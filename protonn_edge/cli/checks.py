"""What commands print of checks: what was made answers as NumPy does, and as in a sketch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.chain.model import Model
from protonn_edge.cli.command import Output
from protonn_edge.codegen import Float32Plan, Plan
from protonn_edge.evaluation.library_check import LibraryCheck, LibraryWay, check_library
from protonn_edge.quantization import DeviceModel
from protonn_edge.report.terminal import fact_table
from protonn_edge.verification.agreement import outcome
from protonn_edge.verification.tryout import Tried, WrongAnswers

_FIRST_SHOWN = 5


def library_check(
    out: Output,
    model: Model,
    reference: DeviceModel,
    plan: Plan | Float32Plan | None,
    board: Board,
    points: tuple[NDArray[Any], NDArray[np.int64]],
    emulator: str | None = None,
) -> LibraryCheck:
    """Run points through the library's pnn_quantize, with a progress bar, and print the result."""
    way = LibraryWay(reference, *points)
    with out.progress("through pnn_quantize", len(points[1])) as bar:
        check = check_library(model, way, plan, board, lambda _: bar.advance(), emulator)
    out.say("quantized as in a sketch, by pnn_quantize:", fact_table(_facts(check, reference)))
    return check


def _facts(check: LibraryCheck, reference: DeviceModel) -> list[tuple[str, str]]:
    n = len(check.differing)
    first = ", ".join(map(str, check.differing[:_FIRST_SHOWN]))
    more = ", ..." if n > _FIRST_SHOWN else ""
    agreements = [
        replace(each, execution=each.execution.split(" through")[0]) for each in check.agreements
    ]
    facts = [
        ("accuracy", f"{100 * check.library_accuracy:.2f} % ({100 * check.accuracy:.2f} % else)"),
        ("another class", f"{n:,} of {check.n:,} points" + (f", first {first}{more}" if n else "")),
        ("compared", outcome(agreements, reference.score_tolerance)),
    ]
    return facts + ([("not emulated", check.left_out)] if check.left_out else [])


try_option = click.option(
    "--try/--no-try",
    "tries",
    shown=True,
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
