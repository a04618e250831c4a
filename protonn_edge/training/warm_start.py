"""Training that continues from a trained model, in its normalized features."""

from __future__ import annotations

import numpy as np

from protonn_edge.chain.model import Model
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import protonn_head
from protonn_edge.training.objective import Parameters


def parameters_of(model: Model, *, scores_are_logits: bool) -> Parameters:
    """Return the matrices of a model with its gamma folded in.

    - `model`: a ProtoNN; classes in the order of the sorted labels, as an estimator makes it.
    - `scores_are_logits`: true if the loss learns a sharpness, which is part of Z in a model.
    """
    head = protonn_head(model, "the start of training")
    fold = np.float32(head.gamma)
    largest = float(np.abs(head.labels).max())
    scale = np.float32(largest if scores_are_logits and largest > 0 else 1.0)
    sharpness = np.array([np.log(scale)], dtype=np.float32)
    with np.errstate(over="ignore"):  # the caller checks that all are finite
        return Parameters(
            head.projection * fold, head.prototypes * fold, head.labels / scale, sharpness
        )


def check_sizes(sizes: tuple[int, int], n_features: int, n_classes: int) -> None:
    """Refuse a model whose numbers of features or classes differ from the data's."""
    for size, wanted, name in (
        (sizes[0], n_features, "features"),
        (sizes[1], n_classes, "classes"),
    ):
        if size != wanted:
            raise InputError(
                f"the given model has {size:,} {name}, the data has {wanted:,}; give a model and "
                "data that match"
            )
