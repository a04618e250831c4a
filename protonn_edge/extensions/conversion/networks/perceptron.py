"""The network of a fitted `MLPClassifier`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.networks.networks import MOST_HIDDEN, FloatNetwork
from protonn_edge.kinds.dense.integers import MOST_UNITS
from protonn_edge.system.errors import InvalidValue


def perceptron(classifier: object, k: int, n_classes: int) -> FloatNetwork:
    """Return a network as the matrices of its layers."""
    reading.check_text(classifier, "activation", "relu")
    outputs = 1 if n_classes == 2 else n_classes
    if reading.text_of(classifier, "out_activation_") == "logistic" and (
        n_classes > 2 or reading.attribute(classifier, "n_outputs_") != 1
    ):
        raise reading.several_outputs(classifier)
    units = reading.sizes_of(classifier, "intercepts_")[:-1]
    if len(units) > MOST_HIDDEN or max(units, default=0) > MOST_UNITS:
        raise InvalidValue(
            type(classifier).__name__,
            f"hidden layers of {units} units, expected at most {MOST_HIDDEN} layers "
            f"and {MOST_UNITS} units",
            "fit a smaller one",
        )
    sizes = [k, *units, outputs]
    matrices = reading.arrays_of(classifier, "coefs_", [*pairwise(sizes)])
    biases = reading.arrays_of(classifier, "intercepts_", [(size,) for size in sizes[1:]])
    W, b = matrices[-1], biases[-1]
    if n_classes == 2:  # above 0 is the second class
        matrices[-1], biases[-1] = np.hstack([-W, W]) / 2, np.concatenate([-b, b]) / 2
    return FloatNetwork(
        layers=(),
        image=None,
        weights=tuple(np.ascontiguousarray(W.T, np.float32) for W in matrices),
        biases=tuple(b.astype(np.float32) for b in biases),
        order=np.arange(k),
    )
