"""What templates and plans are told about a model: its stages, scales, variables and pushes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from dense_factory import random_dense_model
from model_factory import random_model

from protonn_edge.codegen.context import raw_context, render_context
from protonn_edge.codegen.planner import make_plan, plan_of
from protonn_edge.model.quantization import quantize
from protonn_edge.model.raw_inputs import float_quantizer


@pytest.mark.parametrize("feeding", ["held", "streamed"])
def test_only_the_first_stage_may_read_what_the_firmware_holds(feeding: str) -> None:
    chain = quantize(random_dense_model(features=400))
    stages = render_context(chain, plan_of(chain, {"feeding": feeding}))["stages"]
    assert [stage.held_by_firmware for stage in stages] == [feeding == "held", False, False]
    assert [stage.next for stage in stages] == [*stages[1:], None]
    assert [stage.previous for stage in stages] == [None, *stages[:-1]]


def test_each_of_many_features_chooses_its_scale() -> None:
    model = quantize(random_model(features=40))
    raw = raw_context(model)
    assert raw["integers"]["choice"] == model.raw_inputs.choice.tolist()
    assert raw["floats"]["choice"] == float_quantizer(model.quantizer).choice.tolist()
    assert raw["integers"]["bits"] == 8
    assert (raw["each"], raw["repeats"], raw["what"]) == (40, False, "feature")
    alike = quantize(random_model(features=40)).inputs
    same = replace(alike, zero=np.zeros(40), step=np.ones(40))
    assert raw_context(replace(model, inputs=same, raw_exponents=None))["integers"]["choice"] == []


def test_a_feature_takes_its_share_of_the_first_stage_unless_all_are_held() -> None:
    model = quantize(random_model(features=200, projections=10))
    assert make_plan(model).buffered
    assert make_plan(model).feature_cycles == 0
    plan = plan_of(model, {"feeding": "streamed"})
    assert plan.feature_cycles == plan.steps[0].mean / 200
    assert (plan.feed.chunk, plan.feed.calls) == (64, 4)
