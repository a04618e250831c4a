"""A model of a PCA's components, as one of the features before it: both are matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from protonn_edge.extensions.conversion.affine import AffineMap, Float64
from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.learn.normalization import normalizer_from
from protonn_edge.model.head import Head
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.errors import InvalidValue


def _linear(head: LinearHead, turn: Float64, shift: Float64) -> LinearHead:
    return replace(
        head, weights=_product(head.weights, turn), bias=head.bias + head.weights @ shift
    )


def _dense(head: DenseHead, turn: Float64, shift: Float64) -> DenseHead:
    (W, *weights), (b, *biases) = head.weights, head.biases
    first = _product(W, turn)
    return replace(head, weights=(first, *weights), biases=(b + W @ shift, *biases))


def _protonn(head: ProtoNNHead, turn: Float64, shift: Float64) -> ProtoNNHead:
    prototypes = head.prototypes - (head.projection @ shift)[:, None]  # distances stay the same
    projection = _product(head.projection, turn)
    return replace(head, projection=projection, prototypes=prototypes.astype(np.float32))


_TURNED: Mapping[type[Head], Callable[[Any, Float64, Float64], Head]] = {
    LinearHead: _linear,
    DenseHead: _dense,
    ProtoNNHead: _protonn,
}


def turned(
    model: Model, features: AffineMap, names: tuple[str, ...], inputs: InputStatistics | None
) -> Model:
    """Return a model with the same scores for features x before a map with axes.

    - `names`: the names of x, or none.
    - `inputs`: the statistics of x in training, which those of the components do not determine.
    """
    turn = _TURNED.get(type(model.head))
    if turn is None or model.clipped or model.normalizer.kind == "l2" or model.features is not None:
        raise InvalidValue(
            "PCA of the pipeline",
            "the classifier does not begin with a matrix of its components",
            "leave the PCA out, or end with a LinearClassifier, DenseClassifier or "
            "ProtoNNClassifier without clip, features and normalization='l2'",
        )
    if inputs is None:
        raise InvalidValue(
            "PCA of the pipeline", "the ranges of the raw features are unknown", "pass X, too"
        )
    before, normalizer = model.normalizer, normalizer_from("standard", inputs)
    # Components are z = axes (x - offset) scale + shift, and the head takes (z - offset') scale'.
    matrix = features.weights(np.diag(before.scale)) / normalizer.scale
    constant = before.apply(features.apply(normalizer.offset[None]))[0]
    return replace(
        model,
        head=turn(model.head, matrix, constant),
        normalizer=normalizer,
        inputs=inputs,
        feature_names=names,
        raw_exponents=None,
    )


def _product(W: Any, turn: Float64) -> Any:
    return (W.astype(np.float64) @ turn).astype(np.float32)
