"""Points that are made of a model alone, to try what was generated where there is no data.

They are bytes as a device receives them, and the same ones on every machine: both ends of the
ranges, where sums are largest and values are clipped, and inputs that the model itself finds
telling (`IntegerChain.example_inputs`), or that its feature stage has drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.model import Model
from protonn_edge.quantization import IntegerChain

Bytes = NDArray[np.uint8]

_DRAWN = 10  # by a feature stage, for each one that is kept
_SINGLE = 8  # every so many points, one feature alone is not 0


def ends(reference: IntegerChain) -> Bytes:
    """Return two points (2, features): all features 0, and all at their maximum."""
    return np.repeat(
        np.array([[0], [reference.features.maximum]], np.uint8), reference.n_features, 1
    )


def extremes(reference: IntegerChain, count: int) -> Bytes:
    """Return `ends`, both alternations of these, and points with one maximum, (about count, D).

    There are at least two of the latter: of the first feature and of the last.
    """
    n, maximum = reference.n_features, reference.features.maximum
    odd = np.arange(n) % 2
    places = np.unique(np.linspace(0, n - 1, max(2, count // _SINGLE)).astype(np.int64))
    alternating = np.array([odd, 1 - odd]) * maximum
    single = np.zeros((len(places), n), np.uint8)
    single[np.arange(len(places)), places] = maximum
    return np.concatenate([ends(reference), alternating, single]).astype(np.uint8)


def examples(model: Model, reference: IntegerChain, count: int) -> Bytes:
    """Return points (count, features) that exercise the arithmetic of a model.

    Parameters
    ----------
    model : Model
        The float model, whose mean point they begin with.
    reference : IntegerChain
        Its integers.
    count : int
        How many.
    """
    start = reference.inputs.quantize(model.inputs.mean[None, :])[0]
    fed = reference.fed_for(reference.example_inputs(start, count))
    if fed is not None:
        return fed
    stage = reference.feature_stage
    assert stage is not None, "else inputs are what the device receives"
    # Most are unlike anything that the model knows: those with the largest scores are kept.
    drawn = stage.examples(_DRAWN * count)
    largest = np.abs(reference.scores(drawn)).max(axis=1)
    return drawn[np.argsort(-largest, kind="stable")[:count]]
