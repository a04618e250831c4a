"""What templates and plans are told about a model: its stages, scales, variables and pushes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from model_factory import random_model, random_pooling_model, tiny_pooling_model

from protonn_edge.codegen.context import raw_context, render_context
from protonn_edge.codegen.planner import make_plan, plan_of
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.quantization import quantize
from protonn_edge.model.raw_inputs import float_quantizer


@pytest.mark.parametrize("feeding", ["held", "streamed"])
def test_only_the_first_stage_may_be_streamed(feeding: str) -> None:
    chain = tiny_pooling_model()
    stages = render_context(chain, plan_of(chain, {"feeding": feeding}))["stages"]
    assert [stage.streamed for stage in stages] == [feeding == "streamed", *[False] * 3]
    assert [stage.next for stage in stages] == [*stages[1:], None]
    assert [stage.previous for stage in stages] == [None, *stages[:-1]]


def test_each_of_many_features_chooses_its_scale() -> None:
    model = quantize(random_model(features=40))
    raw = raw_context(model)
    assert raw["integers"]["choice"] == model.raw_inputs.choice.tolist()
    assert raw["floats"]["choice"] == []  # they have the features' order
    assert len(raw["floats"]["scales"]) == 40
    assert raw["integers"]["bits"] == 8
    assert (raw["each"], raw["repeats"], raw["what"]) == (40, False, "feature")
    alike = quantize(random_model(features=40)).inputs
    same = replace(alike, zero=np.zeros(40), step=np.ones(40))
    assert raw_context(replace(model, inputs=same, raw_exponents=None))["integers"]["choice"] == []
    shared = replace(alike, zero=np.arange(40) // 2, step=np.ones(40))
    model = replace(model, inputs=shared, raw_exponents=None)
    assert raw_context(model)["floats"]["choice"] == float_quantizer(shared).choice.tolist()


def test_whole_rows_of_an_image_are_pushed_at_once() -> None:
    chain = quantize(random_pooling_model(average_pooling((12, 10), (12, 10), (6, 5))))
    assert make_plan(chain).buffered
    plan = plan_of(chain, {"feeding": "streamed"})
    assert (plan.feed.chunk, plan.feed.calls) == (30, 4)
