"""Rejection in a model file: three thresholds, only in models that reject."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np

from protonn_edge.chain.array_checks import Arrays, check_type
from protonn_edge.chain.decision.rejection import Rejection
from protonn_edge.errors import InputError


def to_arrays(rejection: Rejection | None) -> Arrays:
    """Return the thresholds, (3,); nothing without rejection."""
    return {} if rejection is None else {"rejection": np.array(astuple(rejection), np.float64)}


def from_arrays(arrays: Arrays) -> Rejection | None:
    """Return the thresholds of a model file's arrays, or None.

    Raises
    ------
    InputError
        If the array has another type or shape, or invalid thresholds.
    """
    array = arrays.get("rejection")
    if array is None:
        return None
    check_type(array, "rejection", "f8")
    if array.shape != (3,):
        raise InputError(
            f"array 'rejection' has the shape {array.shape}; it must be the least score, RBF "
            "and margin; calibrate the model again"
        )
    return Rejection(*array.tolist())
