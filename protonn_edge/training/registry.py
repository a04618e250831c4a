"""The kinds of classifiers, by their names on the command line."""

from __future__ import annotations

from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.basis_images.classifier import BasisImagesClassifier
from protonn_edge.training.bonsai import BonsaiClassifier, LocalDeepKernelClassifier
from protonn_edge.training.dense import DenseClassifier
from protonn_edge.training.forest import ForestClassifier
from protonn_edge.training.linear import LinearClassifier
from protonn_edge.training.protonn import ProtoNNClassifier

CLASSIFIERS: dict[str, type[DeviceClassifier]] = {
    "protonn": ProtoNNClassifier,
    "linear": LinearClassifier,
    "dense": DenseClassifier,
    "forest": ForestClassifier,
    "bonsai": BonsaiClassifier,
    "local-deep-kernel": LocalDeepKernelClassifier,
    "basis-images": BasisImagesClassifier,
}
"""The first one is the default."""
