"""Models of many prototypes or coordinates take little memory, and few decompositions."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from chains import numbers_of, replace
from model_factory import random_inputs, tiny_integer_model

from protonn_edge.kinds.protonn.prototypes import integers
from protonn_edge.kinds.protonn.prototypes.integers import exponential_table, score_norms


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
