"""Every pair of options trains, or is refused."""

from __future__ import annotations

import warnings
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from chains import replace
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.chain.model import Model
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.training.refusals import Incompatible

RNG = np.random.default_rng(0)
Y = np.arange(24) % 2
X = (RNG.integers(0, 9, (24, 8)) + 4 * Y[:, None] * (np.arange(8) < 4)).astype(np.float32)
LABELS = np.stack([Y, np.arange(24) % 3 > 0], axis=1).astype(int)
BRIEF = {"epochs": 1, "iterations": 1, "pass_epochs": 1, "network_epochs": 1, "random_state": 0}

COPIES: dict[str, Any] = {"copies": 2}
NOISE: dict[str, Any] = {"background_noise": [[1] * 8]}
IMAGES = {"image_shape": (2, 4)}
DESKEWED = {**IMAGES, "features": "deskew,pool:1x2"}
AVERAGES = {**IMAGES, "features": "pool:1x2"}
GRADIENTS = {**IMAGES, "features": "gradients:1x2"}
CONVOLUTIONS = {**IMAGES, "features": "conv:2x1"}
WINDOWS = {"features": "mean,max", "window_shape": (4, 2)}


def trained(y: Any = Y, **settings: Any) -> Model:
    model: Model = ProtoNNClassifier(**BRIEF, **settings).fit(X, y).model_
    return model


PLAIN, CLIPPED = trained(), trained(clip=0.05)
OF_WINDOWS, OF_AVERAGES, OF_SETS = trained(**WINDOWS), trained(**AVERAGES), trained(LABELS)
OF_GRADIENTS = trained(**GRADIENTS)
OF_CONVOLUTIONS = trained(**CONVOLUTIONS)

IN_TURN = {"optimizer": "alternating"}
ONE = {"one_class": True}


CHOICES: dict[str, dict[str, Any]] = {
    "fewer projections": {"n_projections": 2},
    "prototypes": {"n_prototypes": 4},
    "budget": {"budget": 120},
    "thin": {"sparsity_projection": 0.5, "sparsity_prototypes": 0.5, "sparsity_labels": 0.5},
    "alternating": IN_TURN,
    "alternating, inverse": {**IN_TURN, "step_sizes": "inverse"},
    "squared error": {"loss": "squared_error"},
    "hinge": {"loss": "hinge"},
    "compression": {"loss": "neighbour_likelihood", "trained": ("B",)},
    "gamma": {"gamma": 0.5, "gamma_numerator": 1.0},
    "none": {"normalization": "none"},
    "l2": {"normalization": "l2"},
    "batches": {"batch_size": 8, "learning_rate": 0.001},
    "noise": {"input_noise": 0.1},
    "floats": {"quantization_aware": False},
    "balanced": {"class_weight": "balanced"},
    "gaussian": {"init_projection": "gaussian"},
    "pca": {"init_projection": "pca"},
    "nca": {"init_projection": "nca"},
    "identity": {"init_projection": "identity"},
    "sleec": {"init_projection": "sleec"},
    "k-means": {"init_prototypes": "kmeans"},
    "sample": {"init_prototypes": "sample"},
    "a model": {"initial_model": PLAIN},
    "a model that clips": {"initial_model": CLIPPED},
    "4 bits": {"projection_bits": 4},
    "teachable": {"teachable": 3, "new_classes": 1},
    "a model of 4 bits": {"initial_model": replace(PLAIN, projection_bits=4)},
    "a model of windows": {"initial_model": OF_WINDOWS},
    "a model of averages": {"initial_model": OF_AVERAGES},
    "a model of sets": {"initial_model": OF_SETS},
    "copies": COPIES,
    "copies with noise": COPIES | NOISE,
    "images": IMAGES,
    "averages": AVERAGES,
    "averages of nothing": {"features": "pool:1x2"},
    "cropped": {**IMAGES, "features": "crop:2x2,pool:1x2"},
    "cropped alone": {"features": "crop:2x2"},
    "gradients": GRADIENTS,
    "gradients alone": {"features": "gradients:1x2"},
    "directions": {**IMAGES, "features": "gradients:1x2/4"},
    "convolutions": CONVOLUTIONS,
    "small convolutions": {**IMAGES, "features": "conv:2x1,bits:2/4"},
    "images that stay": {"network_moved_share": 0.0, "network_still_epochs": 1},
    "a model of convolutions": {"initial_model": OF_CONVOLUTIONS},
    "a model of gradients": {"initial_model": OF_GRADIENTS},
    "deskew": DESKEWED,
    "upright alone": {"features": "deskew"},
    "windows": WINDOWS,
    "features": {"features": "mean,max"},
    "a window": {"window_shape": (4, 2)},
    "samples": {"sample_rate": 10.0},
    "augment": {**IMAGES, "augment": True},
    "augment alone": {"augment": True},
    "half of them": {**IMAGES, "augment": 0.5},
    "no group shift": {"group_shift": 0.0},
    "strangers": {"strangers": 0.5},
    "one class": ONE,
    "clip": {"clip": 0.05},
    "callbacks": {"callback": lambda _: None, "network_callback": lambda _: None},
    # What is no parameter, but goes with them.
    "sets of labels": {},
    "groups": {},
    "weights": {},
    "points to report on": {},
}


def test_every_parameter_is_in_a_pair() -> None:
    varied = {name for settings in CHOICES.values() for name in settings} | set(BRIEF)
    assert varied == set(ProtoNNClassifier().get_params())


def go_together(pair: tuple[str, str]) -> bool:
    """Return whether two choices give no parameter different values."""
    first, second = (CHOICES[name] for name in pair)
    return all(first[name] == second[name] for name in first.keys() & second.keys())


@pytest.mark.parametrize("first", CHOICES)
def test_a_pair_trains_or_is_refused_by_the_table(first: str) -> None:
    pairs = [pair for pair in combinations(CHOICES, 2) if pair[0] == first and go_together(pair)]
    for pair in pairs:
        train_or_be_refused(pair)


def train_or_be_refused(pair: tuple[str, str]) -> None:
    classifier = ProtoNNClassifier(**BRIEF | CHOICES[pair[0]] | CHOICES[pair[1]])
    labels = LABELS if "sets of labels" in pair else 0 * Y if "one class" in pair else Y
    more: dict[str, Any] = {}
    if "weights" in pair:
        more["sample_weight"] = 1.0 + np.arange(24) % 3
    if "groups" in pair:
        more["groups"] = np.arange(24) // 6
    if "points to report on" in pair:
        more["evaluate_on"] = X, labels
    with warnings.catch_warnings(), suppress(Incompatible):
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(X, labels, **more)
        classifier.predict(X)
