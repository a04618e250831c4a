"""Random models of every kind as C on the host, under sanitizers: the reference's integers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from avr_tools import skip_without
from fuzz.model_files import changed_model
from fuzz.mutation import pick
from fuzz.sentences import check_refusal
from generated_programs import assert_equal_to_reference
from model_factory import (
    random_images,
    random_inputs,
    random_model,
    random_pooling_model,
    random_window_model,
    random_windows,
    rejecting_some,
    window_features_of,
)
from random_integer_models import random_bytes, random_integer_model

from protonn_edge.chain.model import Model
from protonn_edge.codegen import every_plan
from protonn_edge.codegen.host import host_program
from protonn_edge.cores import CORES
from protonn_edge.device import ReferenceAnswers
from protonn_edge.errors import InputError
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.features.deskew.integers import BYTES
from protonn_edge.features.window_features.windows import KINDS
from protonn_edge.kinds.protonn.precision.model import float_build
from protonn_edge.quantization import IntegerChain, quantize
from protonn_edge.verification.agreement import compare

BRIEF_CASES = 3
DEADLINE_S = 120.0

_POINTS = 40
_TRIES = 200  # one in six changed model files is accepted

_Made = tuple[IntegerChain, np.ndarray]


def run_case(seed: int, folder: Path) -> None:
    """Compile one plan of a model and run it in all ways of feeding."""
    skip_without("cc")
    rng = np.random.default_rng(seed)
    if rng.random() < 0.1:
        _check_floats(seed, _plain_model(rng))
        return
    kind = pick(rng, (_integers, _plain, _images, _windows, _changed))
    model, Q = _first_accepted(rng, folder, kind)
    if rng.random() < 0.3 and model.own_stages[-1].output.ends[1] >= 1:
        model = rejecting_some(model, Q, int(rng.integers(1, 8)))
    core = CORES[pick(rng, ("avr5", "avr5", "avr25"))]
    plan = pick(rng, list(every_plan(model, core)))
    with host_program(model, plan, sanitize=True) as program:
        assert_equal_to_reference(program, model, Q)


def _first_accepted(
    rng: np.random.Generator, folder: Path, kind: Callable[[np.random.Generator, Path], _Made]
) -> _Made:
    for _ in range(_TRIES):
        try:
            return kind(rng, folder)
        except InputError as error:
            check_refusal(error)
    raise AssertionError(f"{_TRIES} models of the kind {kind.__name__} were refused")


def _integers(rng: np.random.Generator, folder: Path) -> _Made:
    seed = int(rng.integers(1 << 31))
    model, _ = random_integer_model(seed)
    return model, random_bytes(seed, _POINTS, model)


def _plain_model(rng: np.random.Generator) -> Model:
    return random_model(
        int(rng.integers(1 << 31)),
        features=int(rng.choice([1, 2, 12, 40, 300])),
        projections=int(rng.integers(1, 25)),
        prototypes=int(rng.choice([1, 5, 40, 300])),
        classes=int(rng.choice([2, 3, 10, 255])),
        gamma_numerator=float(rng.choice([0.3, 2.5, 6.0, 12.0])),
    )


def _plain(rng: np.random.Generator, folder: Path) -> _Made:
    model = quantize(_plain_model(rng))
    return model, random_inputs(int(rng.integers(1 << 31)), _POINTS, model)


def _images(rng: np.random.Generator, folder: Path) -> _Made:
    image = rng.integers(1, 24, 2)
    cropped = rng.integers(1, image + 1)
    shape = rng.integers(1, cropped + 1)
    scale = BYTES if rng.random() < 0.5 else None
    pooling = average_pooling(_pair(image), _pair(cropped), _pair(shape), deskew=scale is not None)
    seed = int(rng.integers(1 << 31))
    Q = random_images(seed, _POINTS, pooling)
    Q[0], Q[1] = 0, 255
    return quantize(random_pooling_model(pooling, seed)), Q


def _pair(sides: np.ndarray) -> tuple[int, int]:
    return int(sides[0]), int(sides[1])


def _windows(rng: np.random.Generator, folder: Path) -> _Made:
    kinds = [kind for kind in KINDS if rng.random() < 0.5] or ["mean", "deviation"]
    numbers = {"bands": f":{rng.integers(1, 9)}", "crossings": f":{rng.integers(0, 128)}"}
    text = ",".join(kind + numbers.get(kind, "") for kind in kinds)
    window_features = window_features_of(text, int(rng.integers(1, 257)), int(rng.integers(1, 5)))
    seed = int(rng.integers(1 << 31))
    Q = random_windows(seed, _POINTS, window_features)
    return quantize(random_window_model(window_features, seed)), Q


def _changed(rng: np.random.Generator, folder: Path) -> _Made:
    """Return what a changed model file becomes, with weights of any size."""
    model = quantize(changed_model(rng, folder))
    return model, random_inputs(int(rng.integers(1 << 31)), _POINTS, model)


def _check_floats(seed: int, model: Model) -> None:
    try:
        floats = float_build(model)
    except InputError as error:  # of prototypes too far apart for integers
        check_refusal(error)
        return
    Q = np.random.default_rng(seed).integers(
        0, floats.quantizer.maximum + 1, (_POINTS, floats.n_features), np.uint8
    )
    with host_program(floats, sanitize=True) as program:
        labels, scores = program.run(Q, "chunks")
    agreement = compare("C", ReferenceAnswers.of(floats, Q), labels, scores)
    assert agreement.mismatches == 0, f"the float build differs: {agreement.first}"
