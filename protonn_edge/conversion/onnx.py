"""Convert a trained network in ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from protonn_edge.conversion.converting import from_sklearn
from protonn_edge.conversion.kept import Conversion
from protonn_edge.conversion.onnx_operators import load_network


def from_onnx(
    model: Path | str | bytes,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    evaluate_on: tuple[ArrayLike, ArrayLike | None] | None = None,
    bits: int = 8,
    **options: Any,
) -> Conversion:
    """Convert a trained network in ONNX into a model for a board.

    Parameters
    ----------
    model : Path, str or bytes
        The file (.onnx), or its contents. docs/conversion.md lists the operators.
    X : array of shape (n, D), or (n, ...) as the network takes it
        Representative points, such as the training points: they calibrate the integers. In rows,
        images that convolutions or pooling take have the channels of a pixel next to each other.
    y : array of shape (n,), optional
        Their labels, only for the accuracies.
    evaluate_on : tuple of X and y or None, optional
        Points for measuring the steps, instead of `X` and `y`.
    bits : {8, 4, 2}, default=8
        The bits of a convolution's weight; fewer need less flash, or less time.
    **options
        `board`, `budget`, `classes`, `epochs` and `random_state`, as for `from_sklearn`.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        If the network cannot be converted: the sentence names the node.
    CheckFailed
        If it is too large for the board, or the budget.
    """
    content = model if isinstance(model, bytes) else Path(model)
    stored = load_network(content, "the network" if isinstance(model, bytes) else str(model), bits)
    rows = stored.rule.rows
    if evaluate_on is not None:
        evaluate_on = rows(evaluate_on[0]), evaluate_on[1]
    return from_sklearn(stored, rows(X), y, evaluate_on=evaluate_on, **options)
