"""Builds in floats, which are planned, tried and refused as those in integers are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from built_project import write_project
from kinds.kind import kind_of, kinds_with_models
from model_factory import (
    random_model,
    random_window_model,
    window_features_of,
)
from refusals import refused_by

from protonn_edge.codegen.plan import ENTRY_BYTES
from protonn_edge.codegen.verification.tryout import trial_points
from protonn_edge.extensions.precision.model import float_build
from protonn_edge.extensions.precision.program import Float32Plan, plan_for
from protonn_edge.model.device_model import DeviceModel, with_integers
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.system.errors import InputError

every_kind = pytest.mark.parametrize("kind", kinds_with_models())


@every_kind
def test_there_are_no_float_builds(kind: str) -> None:
    model = kind_of(kind).random_model()
    with pytest.raises(InputError, match=f"no float builds of {model.head.kind} models"):
        float_build(model)


def test_a_float_build_gets_the_points_of_the_integers() -> None:
    model = random_model()
    floats = DeviceModel(model, float_build(model))
    assert np.array_equal(trial_points(floats, 20), trial_points(with_integers(model), 20))


def test_a_float_build_refuses_a_model_that_rejects() -> None:
    model = with_rules(random_model(0), Rejection(rbf=0.1))
    with refused_by("extensions.precision.model"):
        float_build(model)


def test_a_float_build_keeps_its_input_its_projection_and_its_scores() -> None:
    model = random_model(features=30, projections=6, prototypes=7, classes=5)
    plan = plan_for(float_build(model))
    assert plan.table_bytes == 4 * (6 * 30 + 6 * 7 + 5 * 7 + 6)
    assert plan.state_bytes == ENTRY_BYTES + 30 + 2 * 4 * 5


def test_a_float_build_makes_no_features() -> None:
    model = random_window_model(window_features_of("mean,max"))
    with refused_by("extensions.precision.model"):
        float_build(model)


def test_a_float_build_is_recognized(tmp_path: Path) -> None:
    model = random_model()
    reference = float_build(model)
    plan = plan_for(reference)
    recognized, read = write_project(model, tmp_path, plan, reference).generated()
    assert isinstance(read, Float32Plan)
    assert recognized.model_sha256 == reference.model_sha256
