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
from protonn_edge.budget import Usage
from protonn_edge.errors import InputError
from protonn_edge.hil import Result, ResultsFile, Summary, run, summarize
from protonn_edge.model import ProtoNNModel
from protonn_edge.quantization import IntegerModel, quantize
from protonn_edge.report.accuracy import confusion_matrix
from protonn_edge.verification import Agreement, compare_results, open_session


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a run measured.

    Attributes
    ----------
    board : Board
        The board, real or emulated.
    integer_model : IntegerModel
        The reference that the device's scores were compared with.
    usage : Usage
        What the linked firmware takes.
    summary : Summary
        Accuracy, cycles, latency, energy.
    agreement : Agreement
        How the device compares with the reference, score by score.
    stack_peak_bytes : int
        The most stack that the device used, by painting.
    confusion : ndarray of shape (L, L), int64
        Answered points: row the actual class, column the predicted one.
    """

    board: Board
    integer_model: IntegerModel
    usage: Usage
    summary: Summary
    agreement: Agreement
    stack_peak_bytes: int
    confusion: NDArray[np.int64]

    def to_json(self) -> dict[str, Any]:
        """Return the measurement under the names that every JSON of this package uses."""
        return {
            **self.summary.to_json(),
            **self.usage.to_json(),
            "board": self.board.name,
            "stack_peak_bytes": self.stack_peak_bytes,
            "model_bytes": self.integer_model.model_bytes,
            "model_sha256": self.integer_model.model_sha256,
            "classes": list(self.integer_model.classes),
            "confusion": self.confusion.tolist(),
        }


def measure(
    url: str,
    model: ProtoNNModel,
    points: tuple[NDArray[np.float32], NDArray[np.int64]],
    usage: Usage,
    board: Board,
    *,
    device: str,
    results: Path | None = None,
    resume: bool = False,
    on_result: Callable[[Result], None] = lambda _: None,
) -> Measurement:
    """Classify points on the device at `url`, compare every score, and sum up.

    Parameters
    ----------
    url : str
        The device's serial line, a pyserial URL.
    model : ProtoNNModel
        The model that the firmware was built from.
    points : tuple of ndarray (n, D) float32 and ndarray (n,) int64
        Raw features and class indices.
    usage : Usage
        What the firmware takes, for the report.
    board : Board
        Its clock and power turn cycles into time and energy.
    device : str
        What to call the device, for people.
    results : Path, optional
        Results file to write, a line a point.
    resume : bool
        Keep what the results file has and measure the rest.
    on_result : callable
        Called with each new result.

    Raises
    ------
    InputError
        If there are no points, or the results file is of other points.
    CheckFailed
        If the device does not answer or has another model.
    """
    X, y = points
    if len(X) == 0:
        raise InputError("the data has no points to measure on; give a file that has some")
    integer_model = quantize(model)
    Q = integer_model.quantize(X)
    expected = integer_model.scores(Q)
    with ExitStack() as stack:
        # First the device: where none answers, a results file that is there already stays.
        session = stack.enter_context(open_session(url, integer_model))
        earlier: list[Result] = []
        file: ResultsFile | None = None
        if results is not None:
            file = stack.enter_context(ResultsFile(results, resume=resume))
            earlier = file.earlier
            _check_earlier(earlier, y, expected, results)

        def arrived(result: Result) -> None:
            if file is not None:
                file.append(result)
            on_result(result)

        skip = {result.index for result in earlier}
        new = run(session, Q, y, expected, skip=skip, sink=arrived)
        stack_peak_bytes = session.stats().stack_bytes
    everything = sorted([*earlier, *new], key=lambda result: result.index)
    answered = [result for result in everything if result.predicted is not None]
    return Measurement(
        board=board,
        integer_model=integer_model,
        usage=usage,
        summary=summarize(everything, board),
        agreement=compare_results(device, expected, everything),
        stack_peak_bytes=stack_peak_bytes,
        confusion=confusion_matrix(
            np.array([result.predicted for result in answered], np.int64),
            np.array([result.label for result in answered], np.int64),
            integer_model.n_classes,
        ),
    )


def _check_earlier(
    earlier: list[Result], y: NDArray[np.int64], expected: NDArray[np.int64], path: Path
) -> None:
    """Refuse to resume a file whose points or whose model are not these."""
    for result in earlier:
        if result.index >= len(y) or result.label != y[result.index]:
            raise InputError(
                f"{path} has a point {result.index} of class {result.label} which the data does "
                "not have; name another file with -o, or leave out --resume"
            )
        if result.mismatch is False and result.scores != tuple(expected[result.index].tolist()):
            raise InputError(
                f"{path} was measured with another model; name another file with -o, or leave out "
                "--resume"
            )
