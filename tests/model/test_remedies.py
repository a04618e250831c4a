"""What does not fit is told what its own kind of classifier can be trained with."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from convolution_factory import random_layers
from convolution_factory import random_model as random_model_of_layers
from dense_factory import random_dense_model
from extension_parts import additions
from forest_factory import random_forest_model
from linear_factory import random_linear_model
from model_factory import random_model, random_points
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.checks import Usage
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.file import save_model
from protonn_edge.model.head import remedies_of
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import HEADS
from protonn_edge.system.errors import CheckFailed

LARGE = {
    "flash": Usage(flash_bytes=40_000, sram_bytes=0, stack_bytes=0, stack_path=()),
    "sram": Usage(flash_bytes=0, sram_bytes=3_000, stack_bytes=0, stack_path=()),
}


@pytest.mark.parametrize("kind", [kind for kind in HEADS if kind in CLASSIFIERS])
def test_the_options_are_those_of_the_classifier(kind: str) -> None:
    flags = {each.option for each in CLASSIFIERS[kind].parameters.values()}
    remedies = HEADS[kind].remedies
    words = " ".join((*remedies.flash, remedies.sram, remedies.cycles, remedies.accuracy))
    options = set(re.findall(r"--[a-z-]+", words))
    assert options
    assert options <= flags


@pytest.mark.parametrize(
    ("kind", "large"),
    [
        ("protonn", "flash"),
        ("protonn", "sram"),
        ("linear", "flash"),
        ("linear", "sram"),
        ("dense", "sram"),
        ("forest", "flash"),
        *additions("too large").items(),
    ],
)
def test_a_board_that_is_too_small(kind: str, large: str) -> None:
    with refused_by("codegen.projects.checks", "codegen.families.avr.checks", kind=CheckFailed):
        LARGE[large].check(load_board("uno"), HEADS[kind].remedies)


def test_layers_are_what_takes_most() -> None:
    remedies = remedies_of(quantize(random_model_of_layers(random_layers())))
    with refused_by("codegen.projects.checks", "codegen.families.avr.checks", kind=CheckFailed):
        LARGE["sram"].check(load_board("uno"), remedies)


HEADS_OF_ALL = (
    random_model(),
    random_linear_model(),
    random_forest_model(),
    random_dense_model(),
    *(made() for made in additions("kinds with remedies").values()),
)


@pytest.mark.parametrize("model", HEADS_OF_ALL)
def test_integers_have_the_remedies_of_their_model(model: Model) -> None:
    assert quantize(model).head.remedies == model.head.remedies


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (random_model(), "train with more --prototypes or a larger --projection-dim"),
        (random_linear_model(), "train with --clip or a larger --regularization"),
    ],
)
def test_integers_that_lose_too_much(model: Model, words: str, tmp_path: Path) -> None:
    integers, X = quantize(model), random_points(1, 20_000, model.n_features)
    y = model.predict(X)
    other = integers.predict(integers.quantize(X)) != y
    assert other.any()
    save_model(model, tmp_path / "model.npz")
    labels = np.array(model.classes)[y[other]]
    np.savez(tmp_path / "data.npz", X=X[other], y=labels)
    options = ("--data", tmp_path / "data.npz", "--max-drop", 5, "-o", tmp_path / "project")
    done = run("build", tmp_path / "model.npz", *options)
    assert done.exit_code == 1, done.stderr
    assert words in done.stderr
