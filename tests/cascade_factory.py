"""Cascades for tests, of models that others make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protonn_edge.chain.features import Features
from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.kinds.cascade.head import CascadeHead
from protonn_edge.kinds.cascade.integers import IntegerCascade, PartStages


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
