"""What can be converted: a reader for each type of estimator, and one for each kind of file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from protonn_edge.extensions.conversion import linear, linear_numbers, networks, protonn, trees
from protonn_edge.extensions.conversion.networks import numbers as network_numbers
from protonn_edge.extensions.conversion.reading import StoredClassifier
from protonn_edge.extensions.conversion.search import Readers
from protonn_edge.extensions.conversion.trees import numbers as tree_numbers

READERS: Readers = {
    **networks.READERS,
    **network_numbers.READERS,
    **trees.READERS,
    **tree_numbers.READERS,
    **linear.READERS,
    **linear_numbers.READERS,
    **protonn.READERS,
}
"""Those of all modules."""

OTHER_TYPES = trees.TYPES | tree_numbers.TYPES
"""The names of estimators of other libraries."""

LOADERS: Mapping[str, Callable[[Path, int], StoredClassifier]] = {
    "booster": trees.load,
    "network": networks.load,
}
"""What loads a file with some bits of weights, by the reader that `other_file` names."""
