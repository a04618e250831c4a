"""Whether the integers of a new model are as good as its floats and as a search promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from model_factory import random_model, random_points

from protonn_edge.learn.evaluation.fidelity import Fidelity, Promise, fidelity_of
from protonn_edge.model.quantization import quantize

PROMISE = Promise(0.912, 4_435)


def test_accuracies_are_those_of_the_floats_and_of_the_integers() -> None:
    model = random_model()
    X = random_points(0, 300, 12)
    y = model.predict(X)
    integers = quantize(model)
    same = float(np.mean(integers.predict(integers.quantize(X)) == y))
    assert fidelity_of(model, X, y) == Fidelity(300, 1.0, same)


def test_of_many_points_some_are_compared() -> None:
    model = random_model()
    X = np.tile(random_points(0, 100, 12), (130, 1))
    compared = fidelity_of(model, X, model.predict(X))
    assert 4_000 < compared.n <= 5_000


def test_a_search_promises_the_accuracy_of_its_trial() -> None:
    model = random_model()
    chosen = {"score": 0.5, "accuracy": 0.75}
    model = replace(model, record={"n_train": 50, "tuning": {"chosen": chosen}})
    X = random_points(0, 50, 12)
    assert fidelity_of(model, X, model.predict(X)).promise == Promise(0.75, 50)


@pytest.mark.parametrize(
    ("fidelity", "said"),
    [
        (Fidelity(4_435, 0.930, 0.872, PROMISE), ("integers", "promise")),
        (Fidelity(4_435, 0.930, 0.872), ("integers",)),
        (Fidelity(4_435, 0.930, 0.921), ()),  # less than a percentage point
        (Fidelity(4_435, 0.930, 0.920), ()),
        (Fidelity(4_435, 0.930, 0.975, PROMISE), ()),
        (Fidelity(4_435, 0.880, 0.875, PROMISE), ("promise",)),
        (Fidelity(4_435, 0.905, 0.905, PROMISE), ()),  # by chance
        (Fidelity(40, 0.850, 0.850, Promise(0.912, 120)), ()),
        (Fidelity(40, 1.000, 0.975, Promise(1.0, 40)), ("integers",)),
    ],
)
def test_what_is_worse_than_it_should_be_is_said(fidelity: Fidelity, said: tuple[str]) -> None:
    assert tuple(notice.kind for notice in fidelity.notices()) == said
    assert (fidelity.shortfall > 0) == bool(said)
    assert bool(fidelity.reason) == bool(said)


def test_a_warning_gives_both_accuracies_and_a_way_on() -> None:
    (lost,) = Fidelity(4_435, 0.930, 0.872).notices()
    assert lost.warning
    assert "87.20 % of 4,435 training points correctly, but the floats 93.00 %" in lost.text
    assert "inspect" in lost.text
    (missed,) = PROMISE.notices(0.827, 2_000, "test")
    assert "82.70 % of 2,000 test points correctly, but 91.20 % were expected" in missed.text


def test_a_promise_of_certainty_may_be_missed_by_few_points() -> None:
    assert Promise(1.0, 135).missed_by(44 / 45, 45) == 0
    assert Promise(1.0, 135).missed_by(30 / 45, 45) == pytest.approx(1 / 3)
