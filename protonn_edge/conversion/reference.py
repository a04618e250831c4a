"""Convert between models of this package and matrices of the reference implementation.

The reference implementation only has W, B, Z and gamma. A model here also has the normalization of
its features, their ranges, and the names of the classes. These come from the training data in one
direction, and are folded into the matrices, or left out, in the other one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from protonn_edge.conversion.reference_model import ReferenceModel
from protonn_edge.datasets.rows import Sparse
from protonn_edge.errors import InputError
from protonn_edge.model import InputStatistics, Normalizer, ProtoNNModel
from protonn_edge.training.label_sets import best_threshold
from protonn_edge.training.normalization import normalizer_from
from protonn_edge.training.points import Float32
from protonn_edge.training.sparse_statistics import sparse_statistics
from protonn_edge.training.warm_start import check_sizes

Features = Literal["raw", "normalized"]

_CONSTANT_DEVIATION = 1e-6
_THRESHOLD_POINTS = 5_000
_FOLDING_TOLERANCE = 1e-3  # of an RBF's exponent


def from_reference(
    reference: ReferenceModel,
    points: Float32 | Sparse,
    normalization: str,
    classes: Sequence[str],
    *,
    feature_names: Sequence[str] = (),
    label_sets: Sparse | None = None,
) -> ProtoNNModel:
    """Return a model of the matrices of another program.

    Its float scores are that program's: all RBF values count, even the smallest ones.

    Parameters
    ----------
    reference : ReferenceModel
        Its rows of Z are in the order of `classes`.
    points : ndarray or CSR matrix of shape (n, D), float32
        Raw training points, for the normalization and the statistics.
    normalization : {"standard", "minmax", "none", "l2"}
        The normalization of the features for, or by, the other program. "standard" is
        ``(x - mean) / deviation`` as in the authors' examples, where deviations below 1e-6 count as
        1: `ProtoNNClassifier` has another floor.
    classes : sequence of str
        L display names.
    feature_names : sequence of str
        D display names, or none.
    label_sets : CSR matrix of shape (n, L), optional
        For points with sets of labels: those of `points`, for choosing a threshold.

    Raises
    ------
    InputError
        If the matrices have other numbers of features or classes.
    """
    check_sizes(reference, int(points.shape[1]), len(classes))
    inputs = sparse_statistics(points, None) if issparse(points) else InputStatistics.of(points)
    model = ProtoNNModel(
        projection=reference.projection,
        prototypes=reference.prototypes,
        labels=reference.labels,
        gamma=reference.gamma,
        normalizer=_normalizer(normalization, inputs),
        inputs=inputs,
        classes=tuple(classes),
        feature_names=tuple(feature_names),
        record={"trainer": "reference implementation", "n_train": int(points.shape[0])},
        threshold=None if label_sets is None else 0.0,
    ).with_units_of(points)
    if label_sets is None:
        return model
    some = slice(0, _THRESHOLD_POINTS)
    return replace(model, threshold=best_threshold(model.scores(points[some]), label_sets[some]))


def to_reference(model: ProtoNNModel, features: Features = "raw") -> ReferenceModel:
    """Return the matrices of a model for the reference implementation.

    Those programs use every RBF value and have no `ProtoNNModel.cutoff`; a model with one may
    classify some points differently there.

    Parameters
    ----------
    model : ProtoNNModel
    features : {"raw", "normalized"}
        The inputs of the matrices. "raw" folds the normalization, and average pooling, into W and
        B; with "normalized", the other program's inputs must be normalized.

    Raises
    ------
    InputError
        If the model's preprocessing is not linear: it clips features, deskews images or divides
        points by their norms; or if float32 is too coarse for raw features.
    """
    stage = model.feature_stage
    folding = None if stage is None else stage.matrix
    does = "" if stage is None else stage.does
    _check(stage is not None and folding is None, does, "convert a model of its features")
    if features == "normalized":
        _check(model.clipped, "clips outliers", "train without clip")
        _check(stage is not None, does, "take raw features")
        return ReferenceModel(model.projection, model.prototypes, model.labels, model.gamma)
    _check(model.clipped, "clips outliers", "train without clip")
    _check(model.normalizer.kind == "l2", "scales points to unit norm", "take normalized features")
    W = model.projection.astype(np.float64) * model.normalizer.scale
    B = model.prototypes + (W @ model.normalizer.offset)[:, None]
    if folding is not None:
        W = W @ folding
    with np.errstate(over="ignore"):
        folded = ReferenceModel(
            W.astype(np.float32), B.astype(np.float32), model.labels, model.gamma
        )
    _check_folded(folded, W, B, model)
    return folded


def _check(refused: bool, what: str, remedy: str) -> None:
    if refused:
        raise InputError(f"the model {what}, which a matrix cannot do; {remedy}")


def _check_folded(
    folded: ReferenceModel, W: NDArray[np.float64], B: NDArray[np.float64], model: ProtoNNModel
) -> None:
    """Refuse matrices whose rounding to float32 would noticeably change the RBF."""
    lower, upper = model.raw_ends
    extent = np.resize(np.maximum(np.abs(lower), np.abs(upper)), model.n_features)
    moved = np.abs(folded.projection - W) @ extent + np.abs(folded.prototypes - B).max(axis=1)
    widths = model.gamma * float(np.sqrt(np.square(moved).sum()))
    if not widths <= _FOLDING_TOLERANCE:  # not a number is too much, too
        raise InputError(
            "the features' offsets are too large for matrices of float32 on raw features: they "
            f"would be off by {widths:.2g} RBF widths, the limit is {_FOLDING_TOLERANCE:g}; "
            "take normalized features"
        )


def _normalizer(kind: str, inputs: InputStatistics) -> Normalizer:
    if kind != "standard":
        return normalizer_from(kind, inputs)
    constant = inputs.deviation < _CONSTANT_DEVIATION
    return Normalizer(kind, inputs.mean, 1.0 / np.where(constant, 1.0, inputs.deviation))


def same_answers(
    model: ProtoNNModel, reference: ReferenceModel, X: Float32, features: Features = "raw"
) -> float:
    """Return the share of raw points X (n, D) that a model and its matrices classify alike.

    Parameters
    ----------
    features : {"raw", "normalized"}
        See `to_reference`.
    """
    inputs = X if features == "raw" else model.normalized(X)
    there = from_reference(reference, inputs.astype(np.float32), "none", model.classes)
    alike = model.scores(X).argmax(axis=1) == there.scores(inputs).argmax(axis=1)
    return float(np.mean(alike))
