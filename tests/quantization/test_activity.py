"""Activity is what a loop over points and stages counts, however many points there are."""

from __future__ import annotations

import numpy as np
from model_factory import random_images, random_model, random_points, random_pooling_model
from refusals import refused_by

from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.model.integer_chain import named_stages, own_inputs
from protonn_edge.model.quantization import measure_activity, quantize

MORE_THAN_A_BLOCK = 600
POOLED = average_pooling((8, 8), (8, 8), (4, 4))


def test_inputs_are_active_where_they_are_not_0() -> None:
    model = quantize(random_model())
    Q = model.quantize(random_points(1, MORE_THAN_A_BLOCK, 12))
    Q[:, 0] = 0
    Q[:, 1] = 1
    shares = measure_activity(model, Q).inputs
    assert shares.tolist() == [np.count_nonzero(column) / len(Q) for column in Q.T]
    assert shares[:2].tolist() == [0, 1]


def test_inputs_behind_another_stage_are_what_it_makes() -> None:
    model = quantize(random_pooling_model(POOLED))
    Q = model.quantize(random_images(1, MORE_THAN_A_BLOCK, POOLED))
    made = own_inputs(model, Q)
    assert np.allclose(measure_activity(model, Q).inputs, (made > 0).mean(axis=0), rtol=1e-12)


def test_stages_report_the_mean_over_all_points() -> None:
    model = quantize(random_model())
    Q = model.quantize(random_points(1, MORE_THAN_A_BLOCK, 12))
    of_all = measure_activity(model, Q).stages["prototypes"]
    (told,) = (
        stage.activity(named_stages(model)["projection"].run(Q)) for stage in model.own_stages[1:]
    )
    for share, total in zip(of_all, told, strict=True):
        assert np.allclose(share, total / len(Q), rtol=1e-12)


def test_no_points_are_refused() -> None:
    model = quantize(random_model())
    with refused_by("model.quantization"):
        measure_activity(model, np.zeros((0, 12), np.uint8))
