"""Models from elsewhere: the reference implementation's folders, scikit-learn's estimators."""

from __future__ import annotations

from protonn_edge.conversion.converting import from_sklearn
from protonn_edge.conversion.kept import Conversion, ConversionStep
from protonn_edge.conversion.reference import Features, from_reference, same_answers, to_reference
from protonn_edge.conversion.scaling import from_pipeline

__all__ = [
    "Conversion",
    "ConversionStep",
    "Features",
    "from_pipeline",
    "from_reference",
    "from_sklearn",
    "same_answers",
    "to_reference",
]
