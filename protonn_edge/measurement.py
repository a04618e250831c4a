"""A run of test points on a device, from the raw features to the figures of the report."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.budget import Usage, measure_usage
from protonn_edge.emulator import EmulatedUno
from protonn_edge.errors import InputError
from protonn_edge.hil import Result, ResultsFile, Summary, read_results, run, summarize
from protonn_edge.linkage import check_linked
from protonn_edge.project import Project
from protonn_edge.quantization import DeviceModel
from protonn_edge.report.accuracy import confusion_matrix
from protonn_edge.verification import Agreement, compare_results, open_session


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a run measured.

    Attributes
    ----------
    board : Board
        The board, real or emulated.
    reference : IntegerModel or Float32Model
        The reference that the device's scores were compared with.
    usage : Usage
        What the linked firmware takes.
    summary : Summary
        Accuracy, cycles, latency, energy.
    agreement : Agreement
        How the device compares with the reference, score by score.
    saturations : int
        Raw values of the points that quantizing cut off.
    stack_peak_bytes : int or None
        The most stack that the device used, by painting; None if it had nothing to do.
    confusion : ndarray of shape (L, L), int64
        Answered points: row the actual class, column the predicted one.
    """

    board: Board
    reference: DeviceModel
    usage: Usage
    summary: Summary
    agreement: Agreement
    saturations: int
    stack_peak_bytes: int | None
    confusion: NDArray[np.int64]

    def to_json(self) -> dict[str, Any]:
        """Return the measurement under the names that every JSON of this package uses."""
        return {
            **self.summary.to_json(),
            **self.usage.to_json(),
            "board": self.board.name,
            "saturations": self.saturations,
            "stack_peak_bytes": self.stack_peak_bytes,
            "model_bytes": self.reference.model_bytes,
            "model_sha256": self.reference.model_sha256,
            "classes": list(self.reference.classes),
            "confusion": self.confusion.tolist(),
        }


def measure(
    project: Project,
    points: tuple[NDArray[np.float32], NDArray[np.int64]],
    board: Board,
    *,
    port: str | None = None,
    results: Path | None = None,
    resume: bool = False,
    on_result: Callable[[Result], None] = lambda _: None,
) -> Measurement:
    """Run points on the firmware of a project, compare every score, and sum up.

    Parameters
    ----------
    project : Project
        A built one; its firmware is compiled and held against the budget.
    points : tuple of ndarray (n, D) float32 and ndarray (n,) int64
        Raw features and class indices.
    board : Board
        Its clock and power turn cycles into time and energy.
    port : str, optional
        Where a board with this firmware is, a pyserial URL; without it the emulated board runs it.
    results : Path, optional
        Results file to write, a line a point.
    resume : bool
        Keep the answers that the results file has and measure the rest.
    on_result : callable
        Called with each new result.

    Raises
    ------
    InputError
        If there are no points, or the results file is of other points.
    CheckFailed
        If the firmware is over budget or does what it must not (see `linkage`), or the device does
        not answer or has another model.
    """
    X, y = points
    if len(X) == 0:
        raise InputError("the data has no points to measure on; give a file that has some")
    reference, plan = project.generated()
    tolerance = reference.score_tolerance
    Q = reference.quantize(X)
    expected = reference.scores(Q)
    elf = project.compile(board)
    usage = measure_usage(elf)
    usage.check(board)  # a user may have changed the firmware since it was built
    check_linked(elf, reference, plan, board)

    with ExitStack() as stack:
        if port is None:
            port = stack.enter_context(EmulatedUno(elf, board=board)).url
            device = f"emulated {board.name}"
        else:
            device = port
        # First the device: where none answers, a results file that is there already stays.
        session = stack.enter_context(open_session(port, reference))
        earlier = (
            _earlier(results, y, expected, tolerance) if resume and results is not None else []
        )
        log = None
        if results is not None:
            log = stack.enter_context(ResultsFile(results, keep=earlier))

        def arrived(result: Result) -> None:
            if log is not None:
                log.append(result)
            on_result(result)

        skip = {result.index for result in earlier}
        new = run(session, Q, y, expected, skip=skip, sink=arrived, tolerance=tolerance)
        stack_peak_bytes = session.stats().stack_bytes if new else None

    everything = sorted([*earlier, *new], key=lambda result: result.index)
    return Measurement(
        board=board,
        reference=reference,
        usage=usage,
        summary=summarize(everything, board),
        agreement=compare_results(device, expected, everything, tolerance),
        saturations=reference.features.saturations(X),
        stack_peak_bytes=stack_peak_bytes,
        confusion=_confusion(everything, reference.n_classes),
    )


def _earlier(
    path: Path, y: NDArray[np.int64], expected: NDArray[np.int64], tolerance: int
) -> list[Result]:
    """Return the answers in a results file; refuse those of other points or another model."""
    if not path.exists():
        return []
    answered = [result for result in read_results(path) if result.scores is not None]
    for result in answered:
        if result.index >= len(y) or result.label != y[result.index]:
            raise InputError(
                f"{path} has a point {result.index} of class {result.label} which the data does "
                "not have; name another file with -o, or leave out --resume"
            )
        scores = np.array(result.scores, np.int64)
        if len(scores) != expected.shape[1] or (
            np.abs(scores - expected[result.index]).max() > tolerance
        ):
            raise InputError(
                f"{path} has other scores for point {result.index} than this model gives, so it "
                "was measured with another model; name another file with -o, or leave out --resume"
            )
    return answered


def _confusion(results: list[Result], n_classes: int) -> NDArray[np.int64]:
    answered = [(r.predicted, r.label) for r in results if r.predicted is not None]
    pairs = np.array(answered, np.int64).reshape(-1, 2)
    return confusion_matrix(pairs[:, 0], pairs[:, 1], n_classes)
