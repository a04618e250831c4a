"""Convert an int8 network of TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from protonn_edge.conversion.converting import from_sklearn
from protonn_edge.conversion.kept import Conversion
from protonn_edge.conversion.tflite_operators import load_tflite


def from_tflite(
    model: Path | str, X: ArrayLike, y: ArrayLike | None = None, **options: Any
) -> Conversion:
    """Convert an int8 network of TensorFlow Lite into a model for a board.

    The model's scores are the network's int8 outputs, bit for bit as the reference kernels of
    TensorFlow Lite compute them (`OpResolverType.BUILTIN_REF`).

    Parameters
    ----------
    model : Path or str
        The file (.tflite).
    X : array of shape (n, D)
        Points as the network takes them, such as the training points: cycles are measured on them.
    y : array of shape (n,), optional
        Their labels, only for the accuracies: the numbers of the network's outputs.
    **options
        `board`, `budget`, `classes` and `evaluate_on`, as for `from_sklearn`.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        If the network cannot be converted; the sentence names the operator.
    CheckFailed
        If it is too large for the board, or the budget.
    """
    return from_sklearn(load_tflite(Path(model)), X, y, **options)
