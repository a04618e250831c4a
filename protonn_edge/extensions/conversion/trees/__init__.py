"""Fitted trees of other libraries become forests."""

from __future__ import annotations

from pathlib import Path

from sklearn import ensemble
from sklearn.tree import DecisionTreeClassifier

from protonn_edge.extensions.conversion.reading import StoredClassifier
from protonn_edge.extensions.conversion.search import Readers
from protonn_edge.extensions.conversion.trees.boosters import histogram_rule
from protonn_edge.extensions.conversion.trees.libraries import (
    LIBRARIES,
    load_booster,
)
from protonn_edge.extensions.conversion.trees.trees import tree_rule

READERS: Readers = {
    DecisionTreeClassifier: tree_rule,
    ensemble.ExtraTreesClassifier: tree_rule,
    ensemble.GradientBoostingClassifier: tree_rule,
    ensemble.HistGradientBoostingClassifier: histogram_rule,
    ensemble.RandomForestClassifier: tree_rule,
}
TYPES: set[str] = {name for names in LIBRARIES.values() for name in names}


def load(path: Path, _bits: int) -> StoredClassifier:
    """Return the classifier in a file of boosted trees."""
    return load_booster(path)
