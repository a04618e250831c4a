"""All pairs of 25 options of `train`: a pair trains, builds and verifies, or is refused.

A pair that is accepted has to be planned for an Uno, and the model that its file gives has to
answer as the trained one. A pair that is refused has to be refused by one sentence.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extension_parts import additions
from sklearn.exceptions import ConvergenceWarning
from trainings import estimator_with

from protonn_edge.codegen.planner import make_plan
from protonn_edge.learn.training_request import Incompatible
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.model.registry import ESTIMATORS
from protonn_edge.system.errors import InputError

RNG = np.random.default_rng(0)
Y = np.arange(24) % 2
X = (RNG.integers(0, 9, (24, 8)) + 4 * Y[:, None] * (np.arange(8) < 4)).astype(np.float32)
LABELS = np.stack([Y, np.arange(24) % 3 > 0], axis=1).astype(int)
BRIEF = {
    **dict.fromkeys(("epochs", "iterations", "pass_epochs", "network_epochs", "teacher_epochs"), 1),
    "n_trees": 3,
}
IMAGES = {"image_shape": (2, 4)}
START = ESTIMATORS["protonn"](epochs=1, random_state=0).fit(X, Y).model_

OPTIONS: dict[str, dict[str, Any]] = {
    "--classifier dense": {"classifier": "dense"},
    "--classifier forest": {"classifier": "forest"},
    "--classifier linear": {"classifier": "linear"},
    "--features pool:1x2": {"features": "pool:1x2", **IMAGES},
    "--features deskew,gradients:1x2": {"features": "deskew,gradients:1x2", **IMAGES},
    "--features conv:2x1": {"features": "conv:2x1", **IMAGES},
    "--features mean,max": {"features": "mean,max", "window_shape": (4, 2)},
    "--batch-size 8": {"batch_size": 8},
    "--copies 1": {"copies": 1, **IMAGES},
    "--augment": {"augment": True, **IMAGES},
    "--groups": {"groups": np.arange(24) // 6},
    "--outlier-exposure 0.5": {"strangers": 0.5},
    "--clip 0.05": {"clip": 0.05},
    "--normalization l2": {"normalization": "l2"},
    "--class-weight balanced": {"class_weight": "balanced"},
    "--start-from": {"initial_model": START},
    "--budget 120": {"budget": 120},
    "--prototypes 4": {"n_prototypes": 4},
    "--projection-bits 4": {"projection_bits": 4},
    "--lambda-w 0.5": {"sparsity_projection": 0.5},
    **additions("options in pairs"),
    "sets of labels": {"labels": LABELS},
}


def trained(pair: tuple[str, str]) -> Any:
    """Return the model of a pair of options, or the sentence by which it is refused."""
    first, second = (OPTIONS[name] for name in pair)
    shared = first.keys() & second.keys() - {"image_shape"}
    if any(first[name] is not second[name] for name in shared):
        return "an option can be given once"
    settings = first | second
    name = settings.pop("classifier", "protonn")
    groups, y = settings.pop("groups", None), settings.pop("labels", Y)
    kind = estimator_with(name, settings.keys())
    if kind is None:  # `train` refuses it by the kind's parameters
        return f"no variant has all of {settings.keys()}"
    brief = {name: value for name, value in BRIEF.items() if name in kind.parameters}
    y = 0 * Y if settings.get("one_class") and y is Y else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return kind(random_state=0, **brief | settings).fit(X, y, groups=groups).model_
        except Incompatible as error:
            return str(error)


def pairs_with(name: str) -> list[tuple[str, str]]:
    return [pair for pair in combinations(OPTIONS, 2) if pair[0] == name]


def test_there_are_300_pairs() -> None:
    pairs = {0: 210, 4: 300}  # by the number of options that extensions add
    assert len(list(combinations(OPTIONS, 2))) == pairs[len(additions("options in pairs"))]


@pytest.mark.parametrize("first", list(OPTIONS)[:-1])
def test_a_pair_trains_and_builds_or_is_refused_in_a_sentence(first: str, tmp_path: Path) -> None:
    for pair in pairs_with(first):
        model = trained(pair)
        if isinstance(model, str):
            assert "\n" not in model
            assert "{" not in model, pair
            continue
        save_model(model, tmp_path / "model.npz")
        again = load_model(tmp_path / "model.npz")
        assert np.array_equal(again.scores(X), model.scores(X)), pair
        if why_floats_alone(model) is not None:
            with pytest.raises(InputError):
                quantize(model)
            continue
        integers = quantize(again)
        Q = integers.quantize(X)
        assert make_plan(integers) is not None, pair
        assert np.array_equal(integers.predict(Q), quantize(model).predict(Q)), pair
