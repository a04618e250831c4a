"""Cascades for tests, of models that others make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from dense_factory import random_dense_model
from linear_factory import random_linear_model
from model_factory import random_points

from protonn_edge.extensions.cascades.kinds.cascade.head import CascadeHead
from protonn_edge.extensions.cascades.kinds.cascade.integers import (
    IntegerCascade,
    PartStages,
)
from protonn_edge.extensions.cascades.kinds.cascade.train import joined
from protonn_edge.model.features import Features
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model


def cascade_of(
    first: IntegerChain,
    second: IntegerChain,
    Q: np.ndarray,
    *,
    share: float = 0.5,
    factors: tuple[int, int] = (1, 1),
    adds: bool = False,
) -> IntegerChain:
    """Return the cascade of two chains of the same bytes that passes on a share of points Q."""
    leads = np.sort(first.scores(Q), axis=1)
    margin = int(np.quantile(leads[:, -1] - leads[:, -2], share))
    parts = (
        PartStages((*chain.feature_stages, *chain.own_stages), len(chain.feature_stages))
        for chain in (first, second)
    )
    features = first.features and Features(first.features.points, ())
    stage = IntegerCascade(*parts, margin, *factors, adds)
    inputs = first.inputs
    if features is not None:
        n = features.n_outputs
        inputs = replace(inputs, zero=np.zeros(n), step=np.ones(n), maximum=255)
    return IntegerChain(
        head=CascadeHead,
        inputs=inputs,
        own_stages=(stage,),
        score_scale=1 / 1000,
        classes=first.classes,
        features=features,
    )


def random_cascade_model(seed: int = 0) -> Model:
    """Return a cascade of a linear and a dense model, which passes on a third of random points."""
    first, second = random_linear_model(seed), random_dense_model(seed)
    X = random_points(seed, 200, first.n_features)
    return joined(first, second, X, np.arange(len(X)) % first.n_classes, share=1 / 3)
