"""Training that goes on where a trained model is, in its own normalized features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from protonn_edge.errors import InputError
from protonn_edge.model import InputStatistics, ProtoNNModel
from protonn_edge.reference_model import ReferenceModel
from protonn_edge.sizes import SizedByMatrices
from protonn_edge.training.normalization import normalizer_from
from protonn_edge.training.objective import Parameters
from protonn_edge.training.points import Float32


def parameters_of(model: ProtoNNModel, *, scores_are_logits: bool) -> Parameters:
    """Return the matrices of a model with its gamma folded in.

    Parameters
    ----------
    model : ProtoNNModel
        Classes in the order of the sorted labels, as an estimator makes it.
    scores_are_logits : bool
        True where the loss learns a sharpness, which a model has as a part of Z.
    """
    fold = np.float32(model.gamma)
    largest = float(np.abs(model.labels).max())
    scale = np.float32(largest if scores_are_logits and largest > 0 else 1.0)
    sharpness = np.array([np.log(scale)], dtype=np.float32)
    return Parameters(
        model.projection * fold, model.prototypes * fold, model.labels / scale, sharpness
    )


def check_sizes(model: SizedByMatrices, n_features: int, n_classes: int) -> None:
    """Refuse a model that has other numbers of features or classes than the data."""
    for size, wanted, name in (
        (model.n_features, n_features, "features"),
        (model.n_classes, n_classes, "classes"),
    ):
        if size != wanted:
            raise InputError(
                f"the model to start from has {size:,} {name}, the data has {wanted:,}; start from "
                "a model of the same data, or from none"
            )


def model_of(
    reference: ReferenceModel, points: Float32, normalization: str, classes: Sequence[str]
) -> ProtoNNModel:
    """Return a model of the matrices that another program has written.

    Parameters
    ----------
    reference : ReferenceModel
        Its rows of Z are in the order of `classes`.
    points : ndarray of shape (n, D), float32
        Raw training points: what the normalization and the statistics come from.
    normalization : {"standard", "minmax", "none"}
        What was done to the features before the other program saw them, or by it.

    Raises
    ------
    InputError
        If the matrices have other numbers of features or classes.
    """
    check_sizes(reference, points.shape[1], len(classes))
    inputs = InputStatistics.of(points)
    return ProtoNNModel(
        projection=reference.projection,
        prototypes=reference.prototypes,
        labels=reference.labels,
        gamma=reference.gamma,
        normalizer=normalizer_from(normalization, inputs),
        inputs=inputs,
        classes=tuple(classes),
    )
