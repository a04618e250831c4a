"""What cannot be combined: every row of the table, and every pair of options."""

from __future__ import annotations

import warnings
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from audio_factory import audio_of, random_audio_model
from chains import replace
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.chain.model import Model
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.training import stored_points
from protonn_edge.training.base import CLASSIFIERS
from protonn_edge.training.refusals import (
    REFUSALS,
    Incompatible,
    TrainingRequest,
    check_compatible,
    refusal_of,
)
from protonn_edge.training.requests import refusals

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
SOUND = {"features": "audio:2x1"}


def trained(y: Any = Y, **settings: Any) -> Model:
    model: Model = ProtoNNClassifier(**BRIEF, **settings).fit(X, y).model_
    return model


PLAIN, CLIPPED = trained(), trained(clip=0.05)
OF_WINDOWS, OF_AVERAGES, OF_SETS = trained(**WINDOWS), trained(**AVERAGES), trained(LABELS)
OF_GRADIENTS = trained(**GRADIENTS)
CLIPPED_GRADIENTS = replace(OF_GRADIENTS, clipped=True)
OF_CONVOLUTIONS = trained(**CONVOLUTIONS)
CLIPPED_CONVOLUTIONS = replace(OF_CONVOLUTIONS, clipped=True)
OF_SOUND = random_audio_model(audio_of(2, 1, 128))
CLIPPED_SOUND = replace(OF_SOUND, clipped=True)
CLIPPED_AVERAGES = replace(OF_AVERAGES, clipped=True)  # a file may say so
OF_KEPT_ZEROS = {"initial_model": trained(clip=0.05, normalization="none")}

SPARSE, BLOCKS, SETS = {"sparse": True}, {"in_blocks": 768}, {"multilabel": True}
PARTS, GROUPS = {"in_parts": True}, {"in_groups": True}
IN_TURN = {"optimizer": "alternating"}
ONE = {"one_class": True}

CASES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, PARTS | SETS, "partial_fit learns one label per point"),
    ({"class_weight": "balanced"}, SETS, "class_weight is set, but a point with a set of labels"),
    ({}, {"given": {"group_shift"}}, "group_shift needs groups"),
    ({}, GROUPS | SETS, "group_shift is 1.5, but points have sets of labels"),
    ({}, GROUPS | SPARSE, "group_shift is 1.5, but the points are sparse"),
    ({}, GROUPS | BLOCKS, "group_shift is 1.5, but the points are read in blocks"),
    (IN_TURN, GROUPS, "group_shift is 1.5, but the alternating optimizer takes points as they are"),
    ({"strangers": 0.5}, SETS, "strangers is 0.5, but points have sets of labels"),
    ({"strangers": 0.5}, SPARSE, "strangers is 0.5, but the points are sparse"),
    ({"strangers": 0.5}, BLOCKS, "strangers is 0.5, but the points are read in blocks"),
    (
        {"strangers": 0.5} | IN_TURN,
        {},
        "strangers is 0.5, but the alternating optimizer does not use",
    ),
    (
        {"strangers": 0.5, "loss": "neighbour_likelihood"},
        {},
        "strangers is 0.5, but the likelihood of neighbours is not defined for points without",
    ),
    (IN_TURN, BLOCKS, "optimizer is alternating, which needs all points in memory, but the"),
    ({"augment": True, **IMAGES}, BLOCKS, "augment is True, which needs all points in memory"),
    ({"augment": True, **IMAGES}, PARTS, "called with augment, which needs all points"),
    ({"clip": 0.1}, PARTS, "called with clip, which needs all points"),
    (DESKEWED, PARTS, "called with features, which needs all points"),
    (WINDOWS, PARTS, "called with features, which needs all points"),
    ({"initial_model": OF_GRADIENTS}, PARTS, "cannot continue a model of gradients"),
    (GRADIENTS, SPARSE, "cannot be summed, because the points are sparse"),
    (GRADIENTS, BLOCKS, "summed, because the points are read in blocks"),
    ({"initial_model": OF_CONVOLUTIONS}, PARTS, "cannot continue a model of convolutions"),
    (
        CONVOLUTIONS | {"window_shape": (4, 2)},
        {},
        "convolutions use either images or windows, but image_shape and window_shape are",
    ),
    (CONVOLUTIONS, SPARSE, "convolutions cannot be learned, because the points are sparse"),
    (CONVOLUTIONS, SETS, "convolutions cannot be learned, because points have sets of labels"),
    (CONVOLUTIONS, BLOCKS, "convolutions cannot be learned, because the points are read in blocks"),
    ({**IMAGES, "features": "crop:2x2,conv:2x1"}, {}, "can use a crop only if they begin"),
    (
        {**IMAGES, "features": "deskew,conv:2x1"},
        {},
        "deskew applies to pool and gradients",
    ),
    ({"clip": 0.1, **CONVOLUTIONS}, {}, "clip is 0.1, but convolutions compute"),
    ({"initial_model": CLIPPED_CONVOLUTIONS}, {}, "clips outliers, but convolutions compute"),
    ({"clip": 0.1, **GRADIENTS}, {}, "clip is 0.1, but gradients are summed"),
    ({"initial_model": CLIPPED_GRADIENTS}, {}, "clips outliers, but gradients are summed"),
    ({"strangers": 1.0}, PARTS, "called with strangers, which needs all points"),
    ({"initial_model": CLIPPED}, PARTS, "continues from a model that clips outliers"),
    ({"initial_model": OF_WINDOWS}, PARTS, "cannot continue a model of windows of samples"),
    ({"initial_model": OF_SETS}, {}, "is for sets of labels, but the data has one class per point"),
    ({"initial_model": PLAIN}, SETS, "is for one class per point, but the data has sets of labels"),
    (
        {"initial_model": PLAIN, "features": "mean"},
        {},
        "features are given, but the model to start from",
    ),
    (DESKEWED, SPARSE, "dense images that fit in memory can be deskewed, but the points"),
    (DESKEWED, BLOCKS, "that fit in memory can be deskewed, but the points are read in blocks"),
    ({**IMAGES, "features": "deskew"}, {}, "deskew, which prepares images but computes no"),
    ({"features": "pool:1x2"}, {}, "is pool:1x2, but the shape of the image is not given"),
    (AVERAGES, SPARSE, "pooled to averages, but the points are sparse"),
    ({**IMAGES, "augment": True}, SPARSE, "augment is True, but the points are sparse"),
    ({"augment": True}, {}, "augment is True, but image_shape is not given"),
    ({**IMAGES, "augment": True} | IN_TURN, {}, "as they are; set optimizer to 'joint'"),
    ({"augment": 0.5}, {}, "augment is 0.5, but image_shape is not given"),
    ({"window_shape": (4, 2)}, {}, "window_shape is given, but no features of windows are"),
    (
        WINDOWS,
        SPARSE,
        "windows cannot be computed, because the points are sparse; leave features out",
    ),
    (
        WINDOWS | IMAGES | {"augment": True},
        {},
        "windows cannot be computed, because augment moves images",
    ),
    (WINDOWS, BLOCKS, "windows cannot be computed, because the points are read in blocks"),
    (
        SOUND,
        SPARSE,
        "windows cannot be computed, because the points are sparse; leave features out",
    ),
    (
        SOUND | {"window_shape": (4, 2)},
        {},
        "of one channel, but window_shape is 4x2, with several",
    ),
    ({"initial_model": OF_SOUND}, PARTS, "cannot continue a model of clips of sound"),
    ({"clip": 0.1, **SOUND}, {}, "clip is 0.1, but energies of sound are computed"),
    ({"initial_model": CLIPPED_SOUND}, {}, "clips outliers, but energies of sound are computed"),
    ({"clip": 0.1}, SPARSE, "clip is 0.1, but the points are sparse"),
    ({"clip": 0.1, **AVERAGES}, {}, "clip is 0.1, but images are pooled"),
    ({"clip": 0.1, **IMAGES, "augment": True}, {}, "clip is 0.1, but augment moves images"),
    ({"clip": 0.1}, BLOCKS, "clip is 0.1, but the points are read in blocks"),
    (
        {"clip": 0.1, "initial_model": PLAIN},
        {},
        "clip is 0.1, but the model to start from does not clip",
    ),
    (OF_KEPT_ZEROS, SPARSE, "start from clips outliers, but the points are sparse"),
    (
        {"initial_model": CLIPPED, **IMAGES, "augment": True},
        {},
        "clips outliers, but augment moves",
    ),
    ({"initial_model": CLIPPED}, BLOCKS, "clips outliers, but the points are read in blocks"),
    ({"initial_model": CLIPPED_AVERAGES}, {}, "clips outliers, but images are pooled"),
    (
        COPIES,
        {},
        "copies is 2, but copies are moved at random",
    ),
    (NOISE, {}, "background_noise is mixed only into copies of windows and clips"),
    (COPIES | IMAGES, SETS, "copies is 2, but points have sets of labels"),
    (COPIES | IMAGES, SPARSE, "copies is 2, but the points are sparse"),
    (COPIES | IMAGES, BLOCKS, "copies is 2, but the points are read in blocks"),
    (COPIES | IMAGES | {"augment": True}, {}, "copies is 2, but augment moves images"),
    (COPIES | IMAGES, PARTS, "partial_fit was called with copies"),
    ({"budget": 900, "initial_model": PLAIN}, {}, "budget is 900, but the model to start from has"),
    ({"budget": 900, "normalization": "l2"}, {}, "budget is 900 B on a device"),
    ({"projection_bits": 4, "normalization": "l2"}, {}, "projection_bits is 4, but a device"),
    (
        {"teachable": 4, "normalization": "l2"},
        {},
        "teachable is 4, but a device supports neither",
    ),
    ({"new_classes": 1}, {}, "new_classes is 1, but teachable is 0; give both"),
    ({"teachable": 4, "new_classes": 1} | ONE, {}, "new_classes is 1, but one_class is set"),
    (
        {"projection_bits": 4, "initial_model": PLAIN},
        {},
        "is 4, but the model to start from keeps its 8",
    ),
    *(
        (settings, {"given": {name}}, f"{name} has no effect, because {why}; leave {name} out")
        for names, settings, why in (
            (
                "n_projections n_prototypes prototypes_per_class init_projection gamma",
                {"initial_model": PLAIN},
                "the model to start from determines the sizes and the initial values",
            ),
            (
                "init_prototypes gamma_numerator",
                {"initial_model": PLAIN},
                "the model to start from determines the sizes and the initial values",
            ),
            (
                "normalization",
                {"normalization": "minmax", "initial_model": PLAIN},
                "the model to start from has its own",
            ),
            ("iterations pass_epochs step_sizes", {}, "only the alternating optimizer uses it"),
            (
                "epochs learning_rate input_noise quantization_aware",
                IN_TURN,
                "only the joint optimizer uses it",
            ),
            ("gamma_numerator", {"gamma": 1.0}, "gamma is given"),
            (
                "n_projections",
                {"init_projection": "identity"},
                "init_projection is 'identity', which keeps all features",
            ),
            ("sample_rate", {}, "no features of windows are requested with features"),
            (
                "network_epochs network_moved_share network_still_epochs",
                {},
                "no convolutions are learned",
            ),
        )
        for name in names.split()
    ),
    (
        {"budget": 900},
        {"given": {"n_projections"}},
        "determines the sizes, but n_projections is given too; leave out n_projections",
    ),
    ({"budget": 900, "n_prototypes": 4}, {}, "n_prototypes is given too; leave out"),
    (
        {"budget": 900, "prototypes_per_class": 4},
        {},
        "leave out prototypes_per_class or the budget",
    ),
    ({"n_prototypes": 4, "prototypes_per_class": 2}, {}, "is 2; give only one of the two"),
    (
        {"init_projection": "nca"},
        SETS,
        "'nca' needs dense points with one class each, but points have sets of labels",
    ),
    (
        {"init_projection": "nca"},
        SPARSE,
        "'nca' needs dense points with one class each, but the points are sparse",
    ),
    (ONE, SETS, "one_class is set, but points have sets of labels"),
    (ONE, SPARSE, "one_class is set, but the points are sparse"),
    (ONE, BLOCKS, "one_class is set, but the points are read in blocks"),
    (ONE | IMAGES | {"augment": True}, {}, "one_class is set, but augment moves images"),
    (ONE, PARTS, "one_class is set, but partial_fit needs"),
    (ONE | {"initial_model": PLAIN}, {}, "one_class is set, but there is a model to start from"),
    (ONE | {"strangers": 0.5}, {}, "one_class is set, but strangers is 0.5"),
    (ONE | {"clip": 0.1}, {}, "one_class is set, but clip is 0.1"),
    (ONE | CONVOLUTIONS, {}, "one_class is set, but learning convolutions"),
    (ONE | {"normalization": "l2"}, {}, "one_class is set, but the normalization is l2"),
    (ONE | {"budget": 900}, {}, "one_class is set, but budget divides bytes"),
    (ONE | {"init_projection": "nca"}, {}, "is nca, which needs several classes"),
    (ONE | {"sparsity_labels": 0.5}, {}, "one_class trains without an optimizer, so the matrices"),
    (ONE, {"given": {"epochs"}}, "options such as epochs do not apply"),
]


def case_of(settings: dict[str, Any], facts: dict[str, Any]) -> TrainingRequest:
    return TrainingRequest(settings=ProtoNNClassifier(**settings).frozen(), **facts)


@pytest.mark.parametrize(("settings", "facts", "sentence"), CASES)
def test_a_row_refuses_in_its_sentence(
    settings: dict[str, Any], facts: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Incompatible, match=sentence):
        check_compatible(case_of(settings, facts), ProtoNNClassifier.refusals)


def test_every_row_is_the_first_to_refuse_something() -> None:
    first = [
        refusal_of(case_of(settings, facts), ProtoNNClassifier.refusals)
        for settings, facts, _ in CASES
    ]
    table = (*REFUSALS, *refusals(), *ProtoNNClassifier.refusals)
    assert [row.sentence for row in table if row not in first] == []


@pytest.mark.parametrize("kind", CLASSIFIERS.values())
def test_every_row_of_every_kind_can_be_said(kind: Any) -> None:
    settings = {"budget": 900, "n_prototypes": 4, "prototypes_per_class": 2, "window_shape": (4, 2)}
    case = case_of(settings, {})
    for row in (*REFUSALS, *refusals(), *kind.refusals):
        assert "{" not in row.said_of(case)
        assert ("{clip}" in row.sentence) == ("--clip" in row.said_of(case, {"clip": "--clip"}))


def test_a_row_for_parameters_of_another_kind_does_not_apply() -> None:
    class Other:
        augment, strangers, initial_model, group_shift, asked = False, 0.5, None, 0.0, None

    in_turn = [row for row in REFUSALS if "alternating" in row.sentence]
    assert in_turn
    assert not any(row.refuses(TrainingRequest(settings=Other())) for row in in_turn)


CHOICES: dict[str, dict[str, Any]] = {
    "fewer projections": {"n_projections": 2},
    "prototypes": {"n_prototypes": 4},
    "prototypes a class": {"prototypes_per_class": 2},
    "budget": {"budget": 120},
    "thin": {"sparsity_projection": 0.5, "sparsity_prototypes": 0.5, "sparsity_labels": 0.5},
    "alternating": IN_TURN,
    "alternating, inverse": {**IN_TURN, "step_sizes": "inverse"},
    "squared error": {"loss": "squared_error"},
    "hinge": {"loss": "hinge"},
    "compression": {"loss": "neighbour_likelihood", "trained": ("B",)},
    "gamma": {"gamma": 0.5, "gamma_numerator": 1.0},
    "minmax": {"normalization": "minmax"},
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
    "sparse points": {},
    "sets of labels": {},
    "groups": {},
    "weights": {},
    "points to report on": {},
    "in parts": {},
    "in blocks": {},
}


def test_every_parameter_is_in_a_pair() -> None:
    varied = {name for settings in CHOICES.values() for name in settings} | set(BRIEF)
    assert varied == set(ProtoNNClassifier().get_params())


def go_together(pair: tuple[str, str]) -> bool:
    """Return whether two choices give no parameter different values."""
    first, second = (CHOICES[name] for name in pair)
    return all(first[name] == second[name] for name in first.keys() & second.keys())


@pytest.mark.parametrize("first", CHOICES)
def test_a_pair_trains_or_is_refused_by_the_table(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [pair for pair in combinations(CHOICES, 2) if pair[0] == first and go_together(pair)]
    for pair in pairs:
        with monkeypatch.context() as patch:
            train_or_be_refused(pair, patch)


def train_or_be_refused(pair: tuple[str, str], patch: pytest.MonkeyPatch) -> None:
    if "in blocks" in pair:
        patch.setattr(stored_points, "LARGE_BYTES", 100)
    classifier = ProtoNNClassifier(**BRIEF | CHOICES[pair[0]] | CHOICES[pair[1]])
    points = csr_array(X) if "sparse points" in pair else X
    labels = LABELS if "sets of labels" in pair else 0 * Y if "one class" in pair else Y
    more: dict[str, Any] = {}
    if "weights" in pair:
        more["sample_weight"] = 1.0 + np.arange(24) % 3
    if "groups" in pair:
        more["groups"] = np.arange(24) // 6
    if "points to report on" in pair:
        more["evaluate_on"] = points, labels
    in_parts = "in parts" in pair
    if in_parts and (more.keys() - {"sample_weight"} or not hasattr(classifier, "partial_fit")):
        return  # it has no such argument, or is not there
    with warnings.catch_warnings(), suppress(Incompatible):
        warnings.simplefilter("ignore", ConvergenceWarning)
        if in_parts:
            classifier.partial_fit(points, labels, classes=[0, 1], **more)
        else:
            classifier.fit(points, labels, **more)
        classifier.predict(points)
