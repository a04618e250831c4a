"""The float build: the same functions, the reference's scores but for rounding."""

from __future__ import annotations

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import replace
from model_factory import random_inputs, random_model, random_points
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.renderer import SOURCES, render_c
from protonn_edge.codegen.verification.agreement import compare, verify_device
from protonn_edge.device.runner import ReferenceAnswers
from protonn_edge.extensions.precision.model import float_build
from protonn_edge.extensions.precision.program import plan_for
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.head import remedies_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed


def inputs_near_prototypes(seed: int, n: int, model: IntegerChain) -> np.ndarray:
    """Return points like those that the model was made of, among them some that are far away."""
    Q = model.quantize(random_points(seed, n, model.n_features))
    Q[:5] = random_inputs(seed, 5, quantize(random_model(features=model.n_features)))
    return np.minimum(Q, model.inputs.maximum)


@pytest.mark.parametrize("gamma_numerator", [0.3, 2.5, 10.0])
@pytest.mark.parametrize("cutoff", [0.0, 1 / 128])
@pytest.mark.parametrize("feeding", ["whole", "push", "split"])
def test_host_c_gives_the_reference_scores_under_sanitizers(gamma_numerator, cutoff, feeding):
    model = random_model(5, gamma_numerator=gamma_numerator)
    model = float_build(replace(model, cutoff=cutoff))
    Q = inputs_near_prototypes(5, 200, model)
    with host_program(model, sanitize=True) as program:
        labels, scores = program.run(Q, feeding)
    agreement = compare("host C", ReferenceAnswers.of(model, Q), labels, scores)
    assert agreement.mismatches == 0, agreement.first


@needs_emulated_avr
def test_the_uno_gives_the_reference_scores_and_takes_much_longer():
    model, board = random_model(6, features=64, projections=10, prototypes=20), load_board("uno")
    model = replace(model, cutoff=1 / 128)
    took = {}
    for precision in ("float32", "int8"):
        reference = (float_build if precision == "float32" else quantize)(model)
        Q = inputs_near_prototypes(6, 12, reference)
        with (
            trial_build(DeviceModel(model, reference), board) as trial,
            EmulatedUno(trial.elf, board=board) as uno,
        ):
            agreement, results = verify_device("emulated uno", uno.url, reference, Q)
            assert uno.stats().overruns == 0
        assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
        took[precision] = sum(result.cycles for result in results)
    assert took["float32"] > 15 * took["int8"]


def test_a_float_build_that_is_too_large_is_refused_before_the_compiler():
    model = random_model(features=900, projections=10)
    floats = DeviceModel(model, float_build(model))
    with (
        refused_by("codegen.projects.checks", kind=CheckFailed),
        trial_build(floats, load_board("uno")),
    ):
        pass


def test_a_line_that_cannot_wait_takes_a_point_of_any_length() -> None:
    model, board = random_model(features=100), load_board("attiny85")
    family_of(board).check_plan(plan_for(float_build(model)), board, remedies_of(model))


@pytest.mark.parametrize("name", SOURCES)
def test_rendering_is_repeatable_and_differs_from_the_integers(name: str):
    model = random_model(7)
    first, second = (render_c(float_build(model))[name] for _ in range(2))
    assert first == second
    assert first != render_c(quantize(model))[name]
