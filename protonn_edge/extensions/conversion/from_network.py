"""A trained network of another program becomes a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.kept import Conversion
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.extensions.conversion.search import NUMBER


def from_network(
    model: Path | str | bytes,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    evaluate_on: tuple[ArrayLike, ArrayLike | None] | None = None,
    bits: int = 8,
    target: Literal["class", "value"] = "class",
    **options: Any,
) -> Conversion:
    """Convert a trained network in ONNX or TensorFlow Lite into a model for a board.

    The scores of a network that TensorFlow quantized to int8 are its outputs, bit for bit as the
    reference kernels of TensorFlow Lite compute them (`OpResolverType.BUILTIN_REF`).

    Parameters
    ----------
    model : Path, str or bytes
        The file, or its contents. docs/conversion.md lists the operators.
    X : array of shape (n, D), or (n, ...) as the network takes it
        Representative points, such as the training points, which calibrate the integers. If images
        for convolutions or pooling are flattened, the channels of a pixel must be adjacent.
    y : array of shape (n,), optional
        Their labels, only for the accuracies and for `fine_tune`.
    evaluate_on : tuple of X and y or None, optional
        Points for measuring the steps, instead of `X` and `y`.
    bits : {8, 4, 2}, default=8
        Bits of a convolution's weights; fewer bits need less flash or time.
    target : {"class", "value"}, default="class"
        What a single output means: which of two classes, or a number to predict.
    **options
        `board`, `budget`, `classes`, `epochs`, `fine_tune` and `random_state`, as for
        `from_sklearn`.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        If the network cannot be converted; the sentence names the node.
    CheckFailed
        If it is too large for the board, or the budget.
    """
    content = model if isinstance(model, bytes) else Path(model)
    stored = load_network(content, "the network" if isinstance(model, bytes) else str(model), bits)
    if target == "value":
        rule = stored.rule.for_numbers(stored.name)
        stored = replace(stored, rule=rule, classes_=np.array([NUMBER]))
    rows = stored.rule.rows
    if evaluate_on is not None:
        evaluate_on = rows(evaluate_on[0]), evaluate_on[1]
    return from_sklearn(stored, rows(X), y, evaluate_on=evaluate_on, **options)
