"""What the rows of a results file may say: classes of its model, and labels of its points.

A results file may have been edited, or be somebody else's, even if its first line is right.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.decision.rejection import UNKNOWN
from protonn_edge.device import Result
from protonn_edge.errors import InputError
from protonn_edge.quantization import DeviceModel


def check_rows(
    path: Path,
    results: Iterable[Result],
    reference: DeviceModel,
    labels: NDArray[np.int64] | None = None,
) -> None:
    """Refuse results that cannot be the model's, or are of other points.

    Parameters
    ----------
    path : Path
        The results file.
    results : iterable of Result
        Their indices are those of points, as `read_results` has checked.
    reference : IntegerChain or Float32Model
        The model.
    labels : ndarray of shape (n,), int64, optional
        The points' classes, if they are known.

    Raises
    ------
    InputError
        The sentence has the index of the first one.
    """
    n = reference.n_classes
    for result in results:
        scores = n if result.scores is None else len(result.scores)
        named = {result.label, result.predicted or 0}
        if reference.rejection is not None:
            named -= {UNKNOWN}
        if max(named, default=0) >= n or scores != n:
            raise InputError(
                f"{path} has a class or scores at index {result.index} that the model with its {n} "
                "classes does not have; run `protonn-edge hil` again"
            )
        if labels is not None and result.label != labels[result.index]:
            raise InputError(
                f"{path} has class {result.label} at index {result.index}, the point has class "
                f"{labels[result.index]}; run `protonn-edge hil` again"
            )
