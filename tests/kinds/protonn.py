"""What the laws of all kinds need of ProtoNN, which has more tests of its own."""

from __future__ import annotations

import numpy as np
from kinds.kind import Kind
from model_factory import random_model
from random_shapes import Shape, random_model_of

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize


def _scores(model: Model, X: np.ndarray) -> np.ndarray:
    """Return the scores of normalized points, one prototype at a time."""
    places, scores = X @ model.head.projection.T, np.zeros((len(X), model.n_classes))
    for prototype, labels in zip(model.head.prototypes.T, model.head.labels.T, strict=True):
        squares = np.square(model.head.gamma * (places - prototype)).sum(axis=1)
        scores += np.exp(-squares)[:, None] * labels
    return scores


def _drawn(rng: np.random.Generator, n: int, classes: int, maximum: int) -> IntegerChain:
    shape = Shape(int(rng.integers(1, 22)), int(rng.integers(1, 60)), classes, n)
    return random_model_of(rng, shape, maximum)


def _chain(seed: int, **sizes: int) -> IntegerChain:
    return quantize(random_model(seed, **sizes))


KIND = Kind(
    classifier=ProtoNNClassifier,
    random_model=random_model,
    drawn=_drawn,
    random_chain=_chain,
    extremes=(
        {"features": 1, "projections": 1, "prototypes": 1, "classes": 2},
        {"features": 300, "prototypes": 300, "classes": 10},
        {"projections": 22, "classes": 255},
    ),
    without_integers={"labels": 0},
    sizes={"prototypes": (4, 60), "projections": (2, 9)},
    scores_of=_scores,
    settings={"n_prototypes": 30, "epochs": 10},
    accuracy=0.9,
    own_settings={"n_projections": 7, "sparsity_projection": 0.5},
    weak={"n_projections": 2, "epochs": 1},
    facts={},
    variants={},
    flags={},
    steps=("float", "inputs", "W", "prototypes", "Z"),
    tuning=(),
    refused_settings=(),
    stage="prototypes",
    agreement=0.8,
)
