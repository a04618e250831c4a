"""Models of many prototypes or coordinates take little memory, and few decompositions."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from chains import numbers_of, replace
from model_factory import random_inputs, tiny_integer_model

from protonn_edge.kinds.protonn.prototypes import integers, kernels
from protonn_edge.kinds.protonn.prototypes.integers import exponential_table, score_norms
from protonn_edge.model.integer_chain import named_stages


def parts(m, d=3):
    rng = np.random.default_rng(m)
    labels = rng.integers(-128, 128, (2, m)).astype(np.int8)
    return labels, rng.integers(-128, 128, (d, m)).astype(np.int8), exponential_table(), 3


def test_norms_of_many_prototypes_take_memory_by_their_number_alone():
    tracemalloc.start()
    try:
        assert np.isfinite(score_norms(*parts(5_000))).all()
        assert tracemalloc.get_traced_memory()[1] < 100e6  # all pairs at once are 200e6 an array
    finally:
        tracemalloc.stop()


def test_norms_do_not_depend_on_how_many_pairs_are_looked_at_at_once(monkeypatch):
    whole = score_norms(*parts(600))
    monkeypatch.setattr(integers, "_ROWS_AT_ONCE", 7)
    assert score_norms(*parts(600)).tolist() == pytest.approx(whole.tolist(), abs=1)


def test_scores_of_very_many_prototypes_are_bounded_by_their_labels():
    labels, prototypes, _, _ = parts(16_000)
    model = replace(tiny_integer_model(), prototypes=prototypes, labels=labels)
    model = replace(model, classes=("a", "b"))
    largest = int(numbers_of(model)["table"].max())
    wide = labels.astype(np.int64)
    low = largest * np.minimum(wide, 0).sum(axis=1).min()
    high = largest * np.maximum(wide, 0).sum(axis=1).max()
    assert model.own_stages[-1].output.ends == (low, high)


def test_only_what_needs_the_range_of_scores_proves_it(monkeypatch):
    monkeypatch.setattr(integers, "score_norms", None)
    model = tiny_integer_model()
    Q = random_inputs(1, 5, model)
    classes, scores = model.answers(Q)
    assert classes.tolist() == scores.argmax(axis=1).tolist() == model.predict(Q).tolist()
    assert (
        model.model_bytes
        == numbers_of(model)["projection"].size
        + numbers_of(model)["prototypes"].size
        + numbers_of(model)["labels"].size
    )
    with pytest.raises(TypeError):
        _ = model.own_stages[-1].output


def model_of(d, m):
    rng = np.random.default_rng(d)
    base = tiny_integer_model()
    return replace(
        base,
        projection=rng.integers(-20, 20, (d, 6)).astype(np.int8),
        bias=np.zeros(d, np.int64),
        offset=np.zeros(d, np.int64),
        prototypes=rng.integers(-60, 60, (d, m)).astype(np.int8),
        labels=rng.integers(-60, 60, (3, m)).astype(np.int8),
    )


def test_the_bound_of_near_prototypes_needs_few_decompositions(monkeypatch):
    looked_at = []
    least_spare = kernels._least_spare

    def counted(points, centre, limit):
        looked_at.append(points.shape[1])
        return least_spare(points, centre, limit)

    monkeypatch.setattr(kernels, "_least_spare", counted)
    monkeypatch.setattr(kernels, "_PREFIXES", 4)
    bounds = kernels.near_at_most(named_stages(model_of(60, 12))["prototypes"])
    assert looked_at == [1, 2, 3, 4, 60]
    assert len(bounds) == 60
    assert (np.diff(bounds) <= 0).all()
    assert (bounds[4:59] == bounds[3]).all()


def test_what_no_chip_can_hold_is_bounded_by_all_prototypes(monkeypatch):
    monkeypatch.setattr(kernels, "_least_spare", None)
    assert (kernels.near_at_most(named_stages(model_of(5, 14_000))["prototypes"]) == 14_000).all()
