"""Trained networks of other programs: their layers on images, and the matrices after them."""

from __future__ import annotations

from pathlib import Path

from sklearn.neural_network import MLPClassifier

from protonn_edge.extensions.conversion.networks.perceptron import perceptron
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.extensions.conversion.reading import StoredClassifier
from protonn_edge.extensions.conversion.search import Readers

READERS: Readers = {MLPClassifier: perceptron}


def load(path: Path, bits: int) -> StoredClassifier:
    """Return the network in a file, with these bits of weights."""
    return load_network(path, str(path), bits)
