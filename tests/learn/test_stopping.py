"""A training that is stopped keeps its best epoch, and its model says how far it came."""

from __future__ import annotations

import numpy as np
import pytest
from extension_parts import additions
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.progress import BestEpoch, EpochReport, TrainingStopped

KINDS = {
    "joint": lambda: ProtoNNClassifier(n_projections=2, epochs=9, sparsity_projection=0.5),
    "dense": lambda: DenseClassifier(hidden="6", epochs=9, size_budget=30),
    **additions("stopped trainings"),
}


def stop_at(number):
    """Return a callback that stops a training at its report of this number, from 1 on."""
    reports = []

    def callback(report):
        reports.append(report)
        if len(reports) == number:
            raise TrainingStopped

    return callback


@pytest.fixture(scope="module")
def points():
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = generator.standard_normal((90, 6)) + y[:, None] * [3, 0, -2, 0, 1, 0]
    return X.astype(np.float32), y


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_that_is_stopped_keeps_what_it_has(kind, points):
    X, y = points
    classifier = KINDS[kind]().set_params(random_state=0, callback=stop_at(3))
    classifier.fit(X, y)
    assert len(classifier.history_) == 3
    last = classifier.history_[-1]
    assert classifier.model_.record["stopped"] == last.place
    assert last.epoch < last.epochs
    assert classifier.score(X, y) == pytest.approx(last.accuracy, abs=0.15)


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_that_nothing_stops_says_nothing_of_it(kind, points):
    assert "stopped" not in KINDS[kind]().set_params(random_state=0).fit(*points).model_.record


def test_limits_of_size_hold_at_every_stop(points):
    X, y = points
    dense = DenseClassifier(hidden="6", epochs=9, size_budget=30, callback=stop_at(1)).fit(X, y)
    assert isinstance(dense.model_.head, DenseHead)
    assert sum(map(np.count_nonzero, dense.model_.head.weights)) <= 30
    sparse = KINDS["joint"]().set_params(callback=stop_at(1)).fit(X, y).model_
    assert np.count_nonzero(sparse.head.projection) <= sparse.head.projection.size / 2


def test_the_best_epoch_is_gone_back_to():
    values = np.zeros(2)

    def reports():
        for epoch, accuracy in enumerate((0.5, 0.9, 0.9, 0.7), start=1):
            values[:] = epoch
            yield EpochReport(epoch, 9, 1.0, accuracy)
        raise TrainingStopped

    best = BestEpoch([values])
    assert len(best.through(reports(), None)) == 4
    assert values.tolist() == [3, 3]


def test_with_tighter_limits_earlier_epochs_are_not_gone_back_to():
    values, best = np.zeros(1), None

    def reports():
        for epoch, accuracy in enumerate((0.9, 0.5), start=1):
            values[:] = epoch
            best.forget()
            yield EpochReport(epoch, 9, 1.0, accuracy)
        raise TrainingStopped

    best = BestEpoch([values])
    best.through(reports(), None)
    assert values.tolist() == [2]


def test_nothing_is_kept_where_nothing_was_finished():
    def reports():
        raise TrainingStopped
        yield

    with pytest.raises(TrainingStopped):
        BestEpoch([]).through(reports(), None)


@pytest.mark.parametrize("kind", [LinearClassifier, ForestClassifier])
def test_stopping_after_the_only_epoch_changes_nothing(kind, points):
    X, y = points
    whole, stopped = (
        kind(random_state=0, callback=callback).fit(X, y) for callback in (None, stop_at(1))
    )
    assert np.array_equal(whole.decision_function(X), stopped.decision_function(X))


def test_layers_that_are_not_learned_to_the_end_keep_their_head():
    generator = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = (generator.random((60, 36)) + 3 * y[:, None] * (np.arange(36) < 18)).astype(np.float32)
    passes = []

    def on_pass(report):
        passes.append(report.place)
        if report.epoch == 12:
            raise TrainingStopped

    classifier = LinearClassifier(
        image_shape=(6, 6), features="conv:2x3,max2", network_epochs=15, network_callback=on_pass,
        random_state=0,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="the classifier keeps the weights"):
        classifier.fit(X, y)
    assert classifier.model_.record["trainer"] == "network"
    assert classifier.score(X, y) > 0.8
    assert passes[-1] == "12 of 15 passes over the layers"


def test_an_epoch_far_worse_than_the_mean_is_kept_where_no_other_is():
    values = np.zeros(1)

    def reports():
        values[:] = 1
        yield EpochReport(1, 9, 1.0, -40.0)  # R2
        values[:] = 2
        raise TrainingStopped

    BestEpoch([values]).through(reports(), None)
    assert values.tolist() == [1]
