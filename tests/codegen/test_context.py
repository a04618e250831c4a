"""What templates and plans are told about a model: its stages, scales, variables and pushes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from model_factory import (
    random_model,
    random_window_model,
    tiny_pooling_model,
    window_features_of,
)

from protonn_edge.codegen.context import raw_context, render_context
from protonn_edge.codegen.planner import make_plan
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.model.raw_inputs import float_quantizer


@pytest.mark.parametrize(
    ("chain", "streamed"),
    [
        (tiny_pooling_model(), False),
        (quantize(random_window_model(window_features_of("mean,max"))), True),
    ],
    ids=["image", "window"],
)
def test_only_windows_are_streamed(chain: IntegerChain, streamed: bool) -> None:
    stages = render_context(chain, make_plan(chain))["stages"]
    assert [stage.streamed for stage in stages] == [streamed, *[False] * 3]
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
