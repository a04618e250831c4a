"""Sketches that call the library in another order than its header says."""

from __future__ import annotations

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
from linear_factory import random_chain as random_linear_chain
from model_factory import (
    forms_in_place_of,
    random_model,
    random_pooling_model,
)

from protonn_edge.codegen.planner import every_plan
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.model.quantization import quantize
from protonn_edge.system.extensions import DeviceForm


@pytest.mark.parametrize(
    "form", forms_in_place_of(random_model()), ids=lambda form: str(form.choice)
)
def test_forms_in_place_of_integers_answer_as_the_last_prediction(
    form: DeviceForm, tmp_path: Path
) -> None:
    """As `tests/conformance` checks it of stages."""
    model = form.of(quantize(random_model()), random_model())
    points = np.random.default_rng(0).integers(0, 256, (2, model.n_features), np.uint8)
    calls = [BEGIN, *20 * [FINISH], push(1, 2), push(3), FINISH, *wrong_calls(points)]
    check_calls(build_on_host(model, None, tmp_path), model, calls)


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
