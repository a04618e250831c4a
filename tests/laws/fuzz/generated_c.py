"""Random models of every kind as C on the host, under sanitizers: the reference's integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from avr_tools import skip_without
from generated_programs import assert_equal_to_reference
from laws.fuzz.model_files import changed_model
from laws.fuzz.mutation import pick
from laws.fuzz.sentences import check_refusal
from model_factory import (
    forms_in_place_of,
    random_inputs,
    random_model,
    rejecting_some,
)
from random_chains import points_of, random_chain

from protonn_edge.chips.cores import CORES
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import every_plan
from protonn_edge.codegen.verification.agreement import compare
from protonn_edge.device.runner import ReferenceAnswers
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.watch import DeviceForm
from protonn_edge.system.errors import InputError

BRIEF_CASES = 3
DEADLINE_S = 120.0

_POINTS = 40
_TRIES = 200  # one in six changed model files is accepted


def run_case(seed: int, folder: Path) -> None:
    """Compile one plan of a model and run it in all ways of feeding."""
    skip_without("cc")
    rng = np.random.default_rng(seed)
    forms = list(forms_in_place_of(random_model()))
    if rng.random() < 0.1 and forms:
        _check_form(seed, _plain_model(rng), forms[seed % len(forms)])
        return
    if rng.random() < 0.5:
        model, plan = random_chain(rng)
        Q = points_of(rng, _POINTS, model)
    else:
        model, Q = _changed(rng, folder)
        core = CORES[pick(rng, ("avr5", "avr5", "avr25"))]
        plan = pick(rng, list(every_plan(model, core)))
    with host_program(model, plan, sanitize=True) as program:
        assert_equal_to_reference(program, model, Q)


def _changed(rng: np.random.Generator, folder: Path) -> tuple[IntegerChain, np.ndarray]:
    """Return what a changed model file becomes, with weights of any size, and inputs."""
    for _ in range(_TRIES):
        try:
            model = quantize(changed_model(rng, folder))
        except InputError as error:
            check_refusal(error)
            continue
        Q = random_inputs(int(rng.integers(1 << 31)), _POINTS, model)
        if rng.random() < 0.3 and model.own_stages[-1].output.ends[1] >= 1:
            model = rejecting_some(model, Q, int(rng.integers(1, 8)))
        return model, Q
    raise AssertionError(f"{_TRIES} changed models were refused")


def _plain_model(rng: np.random.Generator) -> Model:
    return random_model(
        int(rng.integers(1 << 31)),
        features=int(rng.choice([1, 2, 12, 40, 300])),
        projections=int(rng.integers(1, 25)),
        prototypes=int(rng.choice([1, 5, 40, 300])),
        classes=int(rng.choice([2, 3, 10, 255])),
        gamma_numerator=float(rng.choice([0.3, 2.5, 6.0, 12.0])),
    )


def _check_form(seed: int, model: Model, form: DeviceForm) -> None:
    try:
        chain = form.of(quantize(model), model)
    except InputError as error:  # of prototypes too far apart for integers
        check_refusal(error)
        return
    Q = np.random.default_rng(seed).integers(
        0, chain.quantizer.maximum + 1, (_POINTS, chain.n_features), np.uint8
    )
    with host_program(chain, sanitize=True) as program:
        labels, scores = program.run(Q, "chunks")
    agreement = compare("C", ReferenceAnswers.of(chain, Q), labels, scores)
    assert agreement.mismatches == 0, f"{form.choice} differs: {agreement.first}"
