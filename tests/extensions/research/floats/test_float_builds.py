"""Builds in floats: their numbers, their C, and how they are planned, tried and refused."""

from __future__ import annotations

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import replace
from kinds.kind import kind_of, kinds_with_models
from model_factory import (
    random_inputs,
    random_model,
    random_points,
    random_pooling_model,
    random_window_model,
    window_features_of,
)
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.plan import ENTRY_BYTES
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.renderer import SOURCES, render_c
from protonn_edge.codegen.verification.agreement import compare, verify_device
from protonn_edge.codegen.verification.tryout import trial_points
from protonn_edge.device.runner import ReferenceAnswers
from protonn_edge.extensions.research.floats.model import float_build, in_floats
from protonn_edge.extensions.research.floats.program import plan_for
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.device_model import DeviceModel, with_integers
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.system.errors import CheckFailed


@pytest.mark.parametrize("cutoff", [0.0, 1 / 128])
def test_scores_are_those_of_the_float_model_at_what_the_bytes_stand_for(cutoff: float) -> None:
    """Prototypes beyond the cutoff count as little as they do there."""
    model = replace(random_model(1, features=20), cutoff=cutoff)
    floats = float_build(model)
    Q = floats.quantize(random_points(1, 200, 20))
    expected = model.scores(floats.inputs.restore(Q))
    assert np.allclose(floats.scores(Q) * floats.score_scale, expected, atol=1e-4)
    assert (floats.predict(Q) == expected.argmax(axis=1)).all()
    assert not cutoff or floats.own_stages[0].limit == pytest.approx(np.log(128))


def test_it_takes_the_bytes_of_the_integer_model_and_has_another_hash():
    model = random_model(2)
    floats, integers = float_build(model), quantize(model)
    X = random_points(2, 30, 12)
    assert (floats.quantize(X) == integers.quantize(X)).all()
    assert floats.model_sha256 != integers.model_sha256
    assert floats.model_bytes == 4 * integers.model_bytes


def test_scores_use_24_bits_whatever_the_labels_are():
    for factor in (1e-6, 1.0, 1e6):
        model = random_model(3)
        model = replace(model, labels=model.head.labels * np.float32(factor))
        floats = float_build(model)
        assert 1 << 23 <= np.abs(floats.own_stages[0].labels).sum(axis=1).max() <= 1 << 24


def test_numbers_beyond_a_float_are_refused():
    model = random_model(4)
    integer_model = quantize(model)
    far = model.head.prototypes * np.float32(1e30)
    distant = replace(model, prototypes=far, gamma=1e15)
    with refused_by("extensions.research.floats.model"):
        in_floats(integer_model, distant)


def test_the_hash_depends_on_every_number():
    floats = float_build(random_model())
    (stage,) = floats.own_stages
    changed = [
        replace(stage, **{name: getattr(stage, name) + np.float32(1)})
        for name in ("projection", "bias", "prototypes", "labels", "limit")
    ]
    zero = replace(floats.inputs, zero=floats.inputs.zero + 1)
    others = [replace(floats, own_stages=(each,)) for each in changed]
    others.append(replace(floats, score_scale=2 * floats.score_scale))
    others.append(replace(floats, inputs=zero))
    others.append(replace(floats, classes=floats.classes[::-1]))
    assert len({each.model_sha256 for each in (floats, *others)}) == 9


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


@pytest.mark.parametrize("name", SOURCES)
def test_rendering_is_repeatable_and_differs_from_the_integers(name: str):
    model = random_model(7)
    first, second = (render_c(float_build(model))[name] for _ in range(2))
    assert first == second
    assert first != render_c(quantize(model))[name]


@pytest.mark.parametrize(
    "model",
    [
        random_pooling_model(average_pooling((8, 8), (8, 8), (4, 4))),
        random_window_model(window_features_of("mean,max")),
        with_rules(random_model(0), Rejection(rbf=0.1)),
        replace(random_model(), teachable=3),
        *(kind_of(kind).random_model() for kind in kinds_with_models()),
    ],
    ids=["pooling", "features", "rejection", "teaching", *kinds_with_models()],
)
def test_other_models_have_no_float_builds(model: Model) -> None:
    with refused_by("extensions.research.floats.model"):
        float_build(model)


def test_a_float_build_gets_the_points_of_the_integers() -> None:
    model = random_model()
    floats = DeviceModel(model, float_build(model))
    assert np.array_equal(trial_points(floats, 20), trial_points(with_integers(model), 20))


def test_a_float_build_keeps_its_input_its_projection_and_its_scores() -> None:
    model = random_model(features=30, projections=6, prototypes=7, classes=5)
    plan = plan_for(float_build(model))
    assert plan.table_bytes == 4 * (6 * 30 + 6 * 7 + 5 * 7 + 6)
    assert plan.state_bytes == ENTRY_BYTES + 30 + 2 * 4 * 5
