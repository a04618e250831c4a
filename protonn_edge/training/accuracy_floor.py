"""The minimum accuracy of a device with a model, which tests on a bench check."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.model import Model
from protonn_edge.datasets.dataset import dense_features
from protonn_edge.quantization import quantize, why_floats_alone

_M = TypeVar("_M", bound=Model)


def with_accuracy_floor(model: _M, X: Any, y: NDArray[np.int64] | None) -> _M:
    """Return the model with the minimum accuracy of a device in its record.

    This is the integer accuracy on the test points, minus two standard errors for that number of
    points, so that other points of the same kind reach it, too. Without test points, or for a model
    that cannot run on a device, nothing is recorded.

    - `X` (n, D): raw test points, n >= 0.
    - `y` (n,): indices into the model's classes; not read if the model runs in floats only.
    """
    if why_floats_alone(model) is not None or X.shape[0] == 0:
        return model
    integers = quantize(model)
    Q = integers.quantize(dense_features(X, "the test part"))
    share = float(np.mean(integers.predict(Q) == y))
    error = math.sqrt(share * (1 - share) / len(Q))
    floor = math.floor(1000 * max(0.0, share - 2 * error)) / 1000
    return replace(model, record={**model.record, "accuracy_floor": floor})
