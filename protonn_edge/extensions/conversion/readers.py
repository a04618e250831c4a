"""The modules that read other programs' models, each what its estimators or files become."""

from __future__ import annotations

from typing import Any

from protonn_edge.extensions.conversion import linear, linear_numbers, networks, protonn, trees
from protonn_edge.extensions.conversion.networks import numbers as network_numbers
from protonn_edge.extensions.conversion.trees import numbers as tree_numbers


def converters() -> tuple[Any, ...]:
    """Return the modules with `READERS` of fitted estimators, by type, and `LOADERS` of files."""
    return (networks, network_numbers, trees, tree_numbers, linear, linear_numbers, protonn)
