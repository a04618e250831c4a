"""Raw units in a model file: the exponents of all features."""

from __future__ import annotations

from protonn_edge.chain.array_checks import Arrays
from protonn_edge.chain.input_quantizer.raw_units import Exponents


def to_arrays(exponents: Exponents) -> Arrays:
    """Return the exponents, (n,)."""
    return {"raw_exponents": exponents}


def from_arrays(arrays: Arrays) -> Exponents | None:
    """Return the exponents of a model file's arrays, or None; the model checks them."""
    array = arrays["raw_exponents"]
    return array if array.size else None
