"""The answers of devices to points, which a results file keeps from one run to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.codegen.verification import agreement as compared
from protonn_edge.device.results import Origin, Result, ResultsFile, read_results
from protonn_edge.device.runner import DeviceShare, ReferenceAnswers, run
from protonn_edge.device.session import Session
from protonn_edge.learn.evaluation.right_answers import RightAnswers, check_rows
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import InvalidValue


def answered(
    sessions: Sequence[Session],
    reference: IntegerChain,
    points: tuple[NDArray[np.uint8], NDArray[np.int64], ReferenceAnswers, RightAnswers],
    results: Path | None,
    kept: compared.PossibleCycles | None,
    on_result: Callable[[Result], None],
) -> tuple[list[Result], list[DeviceShare]]:
    """Return the answers to points with their classes, the reference's answers, and right ones.

    Results with cycles that are possible are `kept`, if there is a range of these.
    """
    Q, y, expected, right = points
    rows, counts = right.rows, sessions[0].device.counts
    origin = Origin.of(reference, Q, y, rows)
    labels = dict(zip(rows, y.tolist(), strict=True))
    earlier = list[Result]()
    if kept is not None and results is not None:
        before = earlier_results(results, origin, reference, labels, right, counts)
        earlier = kept.checked(results, before)
    with ExitStack() as stack:
        log = None
        if results is not None:
            log = ResultsFile(
                results,
                origin,
                reference.classes,
                keep=earlier,
                of_classes=right.are_classes,
                counts=counts,
            )
            stack.enter_context(log)

        def numbered(result: Result) -> Result:
            result = replace(result, index=rows[result.index])
            return replace(result, texts=right.texts_of(result))

        def arrived(result: Result) -> None:
            if log is not None:
                log.append(numbered(result))
            on_result(result)

        earlier_rows = {result.index for result in earlier}
        skip = {place for place, row in enumerate(rows) if row in earlier_rows}
        done = run(sessions, Q, y, expected, skip=skip, sink=arrived)
    answered = [*earlier, *map(numbered, done.results)]
    return sorted(answered, key=lambda result: result.index), done.shares


def earlier_results(
    path: Path,
    origin: Origin,
    reference: IntegerChain,
    labels: Mapping[int, int],
    right: RightAnswers | None = None,
    counts: str = "cycles",
) -> list[Result]:
    """Return the answers in a results file; refuse files for other points or another model."""
    if not path.exists():
        return []
    run = read_results(path, origin)
    check_rows(path, run, reference, labels, right)
    if run.counts != counts:
        raise InvalidValue(
            path, f"results in {run.counts}, but this device counts {counts}", "name another file"
        )
    return [result for result in run.results if result.scores is not None]
