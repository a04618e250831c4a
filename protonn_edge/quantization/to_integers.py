"""From a float model of any kind to integers."""

from __future__ import annotations

from typing import cast

import numpy as np

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.model import Model
from protonn_edge.chain.registry import quantizer_of
from protonn_edge.errors import InputError


def quantize(model: Model) -> IntegerChain:
    """Return the integer model, an `IntegerChain`, of a float model, deterministically.

    Parameters
    ----------
    model : Model
        A validated float model with D inputs and L classes.

    Returns
    -------
    IntegerChain
        Its scores times `score_scale` approximate the float model's scores.

    Raises
    ------
    InputError
        If there is no integer version of the model, or no integer scale is safe for every input.
    """
    reason = why_floats_alone(model)
    if reason is not None:
        raise InputError(reason)
    # A hostile file may hold numbers that overflow; non-finite values are refused later.
    with np.errstate(over="ignore", invalid="ignore"):
        return cast("IntegerChain", quantizer_of(model.head.kind).quantize(model))


def why_floats_alone(model: Model) -> str | None:
    """Return why a model cannot be converted to integers, as a sentence, or None if it can."""
    if model.multilabel:
        return (
            f"the model is for sets of {model.n_classes:,} labels, but the device answers with one "
            "class; train with one label per point, or use the float model in Python"
        )
    if model.normalizer.kind == "l2":
        return (
            "the model scales points to unit norm (normalization 'l2'), which needs all features "
            "at once, but the device processes one at a time; train with 'standard', 'minmax' or "
            "'none'"
        )
    return None
