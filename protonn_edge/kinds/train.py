"""The kinds of classifiers, by their names on the command line."""

from __future__ import annotations

from protonn_edge.kinds.basis_images.train.classifier import BasisImagesClassifier
from protonn_edge.kinds.bonsai.train.classifier import BonsaiClassifier, LocalDeepKernelClassifier
from protonn_edge.kinds.dense.train.classifier import DenseClassifier
from protonn_edge.kinds.forest.train.classifier import ForestClassifier
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.training.base import DeviceClassifier

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
