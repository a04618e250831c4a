"""Sketches that call the library in another order than its header says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from any_order import (
    BEGIN,
    FINISH,
    Call,
    build_on_host,
    check_calls,
    name_of,
    predict,
    push,
    wrong_calls,
)
from chains import numbers_of, replace
from convolution_factory import random_layers
from convolution_factory import random_model as random_network
from dense_factory import random_dense_model
from extension_parts import additions
from forest_factory import random_forest_model
from linear_factory import random_chain as random_linear_chain
from linear_factory import random_linear_model
from model_factory import (
    forms_in_place_of,
    random_gradients_model,
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
)

from protonn_edge.codegen.planner import every_plan
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

WINDOWS = window_features_of("mean,max,bands:2", 8)
LAYERS = random_layers()
TREES = random_forest_model(features=WINDOWS.n_outputs)
MODELS: dict[str, Model] = {
    "trees behind windows": dataclasses.replace(TREES, features=WINDOWS),
    **{name: made(LAYERS) for name, made in additions("any order").items()},
    "layers": random_network(LAYERS),
    "sums": random_linear_model(),
    "hidden units": random_dense_model(),
    "prototypes": random_model(),
    "averages": random_pooling_model(average_pooling((9, 9), (8, 8), (4, 4))),
    "windows": random_window_model(WINDOWS),
    "gradients": random_gradients_model(gradient_features((8, 8), (8, 8), (2, 2), 4)),
}


CHAINS: dict[str, Callable[[], IntegerChain]] = {
    **{name: partial(quantize, model) for name, model in MODELS.items()},
    **{
        form.choice: partial(form.of, quantize(random_model()), random_model())
        for form in forms_in_place_of(random_model())
    },
}


@pytest.fixture(scope="module", params=CHAINS)
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, IntegerChain]:
    """Return a program that takes calls, and its model."""
    model = CHAINS[request.param]()
    return build_on_host(model, None, tmp_path_factory.mktemp("library")), model


def test_a_second_end_changes_nothing(library: tuple[Path, IntegerChain]) -> None:
    """Each further one wrote on behind an array, or read there."""
    check_calls(*library, [BEGIN, *20 * [FINISH]])


def test_features_without_a_prediction_are_ignored(library: tuple[Path, IntegerChain]) -> None:
    """They were written through a null pointer."""
    check_calls(*library, [push(1, 2), push(3), FINISH])


def test_wrong_calls_answer_as_the_last_prediction(library: tuple[Path, IntegerChain]) -> None:
    _, model = library
    rng = np.random.default_rng(0)
    points = rng.integers(0, model.quantizer.maximum + 1, (2, model.n_features), np.uint8)
    check_calls(*library, wrong_calls(points))


def test_inputs_beyond_their_maximum_overflow_no_sum(tmp_path: Path) -> None:
    """Sums of 32 bits overflowed, which is undefined."""
    few = random_linear_chain(0, rows=3, features=6, bits=32, maximum=1)
    weights = np.full_like(numbers_of(few)["weights"], 127)
    model = replace(few, weights=weights, bias=numbers_of(few)["bias"] * 0 + 2**31 - 1 - 6 * 127)
    for place, plan in enumerate(every_plan(model)):
        folder = tmp_path / str(place)
        folder.mkdir()
        check_calls(build_on_host(model, plan, folder), model, [predict(b"\xff" * 6), FINISH])


def test_a_part_of_a_wide_row_may_be_256_pixels(tmp_path: Path) -> None:
    """It was taken for none, again and again."""
    model = quantize(random_pooling_model(average_pooling((1, 400), (1, 400), (1, 20))))
    calls = [BEGIN, push(*range(256)), push(*range(144)), FINISH]
    check_calls(build_on_host(model, None, tmp_path), model, calls)


def test_names_are_cut_between_letters(tmp_path: Path) -> None:
    """The ends of letters of two to four bytes were left out."""
    names = ("日本語" * 30, "äöü", "a😀b", "plain")
    model = replace(quantize(random_model(classes=len(names))), classes=names)
    calls: list[Call] = [name_of(label, size) for label in range(4) for size in range(256)]
    check_calls(build_on_host(model, None, tmp_path), model, calls)
