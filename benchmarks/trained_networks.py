"""Convolutional networks that are trained here: rows of `networks.py`.

Shapes of networks, rates and moved shares were compared on a sixth of the training parts, held out;
widths follow from the limits of bytes, and of an Uno's SRAM and flash. Those of windows of samples
were compared in five-fold cross-validation of the training parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from network import Network

from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.model import Model


@dataclass(frozen=True)
class Trained(Network):
    """A network with a classifier of the kind `head` behind its layers."""

    head: str = "linear"

    def models(self, dataset: Dataset, seeds: Sequence[int]) -> list[Model]:
        """Return the network trained with each seed."""
        kind = CLASSIFIERS[self.head]
        classifiers = [kind(random_state=seed, **self.settings) for seed in seeds]
        fitted = [each.fit(dataset.X_train, dataset.y_train) for each in classifiers]
        return [each.to_model(classes=dataset.classes) for each in fitted]


_MNIST = {"image_shape": (28, 28)}
_LARGER = {
    **_MNIST,
    "network_epochs": 24,
    "network_moved_share": 1.0,
    "network_still_epochs": 3,
    "solver": "network",
}
CASES = [
    Trained(
        "mnist10-2kB",
        "mnist10.npz",
        {
            **_MNIST,
            "features": "conv:average2,8x3,6x3,8x3,10x3,max2,18x3,bits:4",
            "network_epochs": 36,
        },
    ),
    Trained(
        "mnist10-2kB-prototypes",
        "mnist10.npz",
        {
            **_MNIST,
            "features": "conv:average2,8x3,6x3,8x3,10x3,max2,bits:4",
            "network_epochs": 18,
            "n_projections": 10,
            "n_prototypes": 32,
            "projection_bits": 4,
            "epochs": 20,
        },
        head="protonn",
    ),
    Trained(
        "mnist10-12kB",
        "mnist10.npz",
        {**_LARGER, "features": "conv:8x5/2,8x3,12x3,24x3,max2,80x3,bits:4"},
    ),
    Trained(
        "mnist10-12kB-fast",
        "mnist10.npz",
        {**_LARGER, "features": "conv:6x5/2,12x3,max2,30x3,64x3,bits:4"},
    ),
    Trained(
        "usps10-4kB",
        "usps10_libsvm.npz",
        {
            "image_shape": (16, 16),
            "features": "conv:8x3,12x3,max2,16x3,28x3,average,bits:4",
            "network_epochs": 100,
            "network_moved_share": 1.0,
        },
    ),
    Trained(
        "magic_wand",
        "magic_wand.npz",
        {
            "window_shape": (119, 6),
            "features": "conv:average2,8x5/2,12x3,max2,bits:4",
            "network_epochs": 80,
            "copies": 3,
        },
    ),
    Trained(
        "ecg5000",
        "ecg5000.npz",
        {"window_shape": (140, 1), "features": "conv:average2,8x5/2,12x3,max2,bits:4"},
    ),
]
