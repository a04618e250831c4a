"""The modules that read other programs' models, each what its estimators or files become."""

from __future__ import annotations

from typing import Any

from protonn_edge.extensions.conversion import linear, networks, protonn, trees
from protonn_edge.extensions.conversion.values import dense, forest
from protonn_edge.extensions.conversion.values import linear as linear_values


def converters() -> tuple[Any, ...]:
    """Return the modules with `READERS` of fitted estimators, by type, and `LOADERS` of files."""
    return (networks, dense, trees, forest, linear, linear_values, protonn)
