"""How models of a kind of classifier are converted to integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.quantization.float32 import Float32Model

Scored = tuple[str, NDArray[Any]]
"""The name of the step, and the scores (n, L) of the model quantized up to it."""


@dataclass(frozen=True)
class IntegerKind:
    """The functions that a kind of classifier provides.

    Attributes
    ----------
    quantize : callable
        Converts a float model to its integer model.
    scores_by_step : callable
        Yields, for a float model, its integer model and raw points (n, features), the scores as the
        model is quantized step by step, each in its own scale: from "float" to those of the device.
    in_floats : callable, optional
        Makes the float build's model from the two; None if there are no float builds.
    """

    quantize: Callable[[Any], IntegerChain]
    scores_by_step: Callable[[Any, Any, NDArray[np.float32]], Iterator[Scored]]
    in_floats: Callable[[Any, Any], Float32Model] | None = None


def inputs_and(last: str) -> Callable[[Any, Any, NDArray[np.float32]], Iterator[Scored]]:
    """Return the `scores_by_step` of a kind whose models are quantized in two steps.

    float   the float model
    inputs  features, or what is made of them, as the bytes that its stages take
    `last`  all integers: what the device computes
    """

    def scores_by_step(model: Any, integers: Any, X: NDArray[np.float32]) -> Iterator[Scored]:
        yield "float", model.scores(X)
        fed = integers.quantize(X)
        restored = integers.inputs.restore(integers.own_inputs(fed))
        yield "inputs", model.head.scores(model.normalizer.apply(restored))
        yield last, integers.scores(fed)

    return scores_by_step
