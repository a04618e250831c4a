"""The sequence of trials is the same whatever runs them, fails, or interrupts them."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.training.folds import search_folds
from protonn_edge.training.searched import SearchSpec
from protonn_edge.tuning.choice import Choice
from protonn_edge.tuning.limits import Figures, TuningLimits
from protonn_edge.tuning.search import _bars
from protonn_edge.tuning.store import Record
from protonn_edge.tuning.trial import sketch
from protonn_edge.tuning.workers import InProcessWorkers, Processes

LIMITS = TuningLimits(flash_bytes=4_000)
FIGURES = Figures("columns", 3_000, 50, 1_000.0)


def essence(records):
    """Return what has to be the same each time: all but how long it took."""
    return {
        number: (
            dict(r.settings),
            r.outcome,
            r.figures,
            r.accuracies,
            dict(r.rungs),
            r.is_default,
        )
        for number, r in records.items()
    }


@pytest.fixture(scope="module")
def reference(make_points, tmp_path_factory, space):
    """Return what an undisturbed search finds."""
    from protonn_edge.tuning.search import Search  # noqa: PLC0415
    from protonn_edge.tuning.store import SearchFile  # noqa: PLC0415

    points = make_points(LIMITS)
    path = tmp_path_factory.mktemp("search") / "search.jsonl"
    with SearchFile(path, {"of": "tests"}, space.distributions) as file:
        found = Search(points, space, file, InProcessWorkers(points)).run(trials=6)
    return essence(found.records)


def test_a_search_trains_as_many_as_it_should_and_rejects_what_does_not_fit(reference):
    outcomes = [outcome for _, outcome, *_ in reference.values()]
    assert len(outcomes) - outcomes.count("rejected") == 6
    assert outcomes.count("rejected") > 0
    assert sorted(reference) == list(range(len(reference)))
    for _, outcome, figures, accuracies, *_ in reference.values():
        if outcome == "complete":
            assert figures.flash_bytes <= 4_000
            assert len(accuracies) == 2
            assert all(0 < accuracy <= 1 for accuracy in accuracies)


def test_the_first_trials_are_told_from_those_that_are_drawn(
    make_points, search, space, tmp_path, reference
):
    starts = space.starts()
    assert 0 < len(starts) < len(reference)
    for number, (settings, *_, is_default) in reference.items():
        assert is_default == (settings in starts) == (number < len(starts))
    points, at_random = make_points(), replace(space, at_random=True)
    found = search(points, InProcessWorkers(points), tmp_path / "s", space=at_random, trials=2)
    assert not any(record.is_default for record in found.records.values())


def test_another_seed_is_another_sequence(make_points, search, tmp_path, reference):
    points = make_points(LIMITS)
    found = search(points, InProcessWorkers(points), tmp_path / "s", seed=1)
    assert essence(found.records) != reference


def test_a_search_that_is_stopped_goes_on_where_it_was(make_points, search, tmp_path, reference):
    points = make_points(LIMITS)
    for stop_at in (2, 5):

        def stop(progress, stop_at=stop_at):
            if len(progress.records) == stop_at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            search(points, InProcessWorkers(points), tmp_path / "s", on_change=stop)
    found = search(points, InProcessWorkers(points), tmp_path / "s")
    assert essence(found.records) == reference


def test_several_processes_find_the_same_and_so_do_those_that_die(
    make_points, search, tmp_path, reference
):
    points = make_points(LIMITS)
    workers = Processes(points, 2)
    killed: list[int] = []

    def kill_one(progress):
        if progress.running and len(progress.records) >= 3 and not killed:
            pid = next(iter(workers._pool._processes))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    found = search(points, workers, tmp_path / "s", on_change=kill_one)
    assert killed
    assert essence(found.records) == reference


def test_a_fold_that_kills_its_worker_every_time_ends_the_search(make_points, search, tmp_path):
    points = make_points(LIMITS)

    class Doomed(InProcessWorkers):
        renewed = 0

        def submit(self, job):  # noqa: ARG002
            future = Future()
            future.set_exception(RuntimeError("gone"))
            return future

        def renew(self):
            self.renewed += 1

    workers = Doomed(points)
    with pytest.raises(CheckFailed, match=r"fold 0 of trial \d was lost 6 times .*gone"):
        search(points, workers, tmp_path / "s")
    assert workers.renewed == 5


def test_time_ends_a_search_and_the_next_one_goes_on(make_points, search, tmp_path, reference):
    points = make_points(LIMITS)
    over = search(points, InProcessWorkers(points), tmp_path / "s", deadline=time.monotonic())
    assert over.timed_out
    found = search(
        points, InProcessWorkers(points), tmp_path / "s", deadline=time.monotonic() + 3600
    )
    assert not found.timed_out
    assert essence(found.records) == reference


@pytest.mark.parametrize(("choice", "timed_out"), [("best", False), ("smallest-within 5", True)])
def test_time_is_left_for_training_what_will_be_chosen(
    make_points, search, space, tmp_path, choice, timed_out
):
    """Of two finished trials the less accurate one is smaller, and takes longer to train."""
    points, small = make_points(), replace(FIGURES, flash_bytes=2_000)
    settings = space.starts()
    done = [
        Record(0, settings[0], "complete", FIGURES, (0.90, 0.90), {}, 1.0, accuracies=(0.9, 0.9)),
        Record(1, settings[1], "complete", small, (0.88, 0.88), {}, 1e3, accuracies=(0.8, 0.8)),
    ]
    found = search(
        points,
        InProcessWorkers(points),
        tmp_path / "s",
        done=done,
        trials=2,
        deadline=time.monotonic() + 100,
        choice=Choice.parse(choice),
    )
    assert found.timed_out == timed_out


@pytest.mark.parametrize(("in_groups", "outcome"), [(False, "pruned"), (True, "complete")])
def test_no_default_is_given_up_by_one_fold_of_people(
    make_points, search, space, tmp_path, monkeypatch, in_groups, outcome
):
    monkeypatch.setattr("protonn_edge.tuning.search._bars", lambda *_: {1.0: 1.1})
    points = make_points()
    if in_groups:
        points = replace(points, groups=np.arange(len(points.y)) % 10)
    space = replace(space, in_groups=in_groups)
    found = search(points, InProcessWorkers(points), tmp_path / "s", space=space, trials=2)
    assert [record.outcome for record in found.records.values()] == [outcome] * 2


def test_no_default_is_given_up_by_one_fold_of_few_points(
    make_points, search, space, tmp_path, monkeypatch
):
    monkeypatch.setattr("protonn_edge.tuning.search._bars", lambda *_: {1.0: 1.1})
    points = make_points()
    points = replace(points, X=points.X[:100], y=points.y[:100])
    points = replace(points, folds=search_folds(points.y, None, 0)[:, 1:3] - 5)
    found = search(points, InProcessWorkers(points), tmp_path / "s", space=space, trials=1)
    (record,) = found.records.values()
    assert record.outcome == "complete"
    assert len(record.scores) == points.n_folds == 10
    rounded = np.round(
        np.array(record.accuracies) * [(points.folds == k).sum() for k in range(10)], 9
    )
    assert np.array_equal(rounded, np.round(rounded))  # each fold is tested on its own points
    assert 0 < record.loss < np.log(10)


def test_limits_that_nothing_meets_name_the_nearest_and_what_limits_it(
    make_points, search, tmp_path, monkeypatch
):
    monkeypatch.setattr("protonn_edge.tuning.search._REJECTED_AT_FIRST", 8)
    points = make_points(TuningLimits(flash_bytes=900, latency_ms=50))
    seen = []
    with pytest.raises(CheckFailed) as caught:
        search(points, InProcessWorkers(points), tmp_path / "s", on_change=seen.append)
    sentence, tried = str(caught.value), seen[-1].records.values()
    nearest = min(tried, key=lambda record: max(record.excess.values()))
    assert "B flash (--max-flash is 900)" in sentence
    assert "--max-latency-ms" not in sentence
    assert f"n_prototypes {nearest.settings['n_prototypes']}" in sentence
    with pytest.raises(CheckFailed, match="--max-flash is 900"):  # and at once from the file
        search(points, InProcessWorkers(points), tmp_path / "s")


def test_settings_that_give_no_model_are_a_trial_that_failed(
    make_points, search, tmp_path, monkeypatch
):
    points = make_points()

    def refuse(*_):
        raise InputError("no such model")

    monkeypatch.setattr("protonn_edge.tuning.search.sketch", refuse)
    found = search(points, InProcessWorkers(points), tmp_path / "s", trials=3)
    assert {record.outcome for record in found.records.values()} == {"failed"}
    assert found.records[0].reason == "no such model"


def test_a_trial_must_reach_what_no_larger_and_no_slower_one_reached():
    def seen(number, flash, cycles, rungs, accuracies=(), outcome="complete"):
        figures = Figures("columns", flash, 50, float(cycles))
        return Record(number, {}, outcome, figures, accuracies, rungs)

    earlier = [
        seen(0, 3_000, 1_000, {0.25: 0.8, 0.5: 0.85}, (0.9, 0.95)),
        seen(1, 3_000, 900, {0.25: 0.82}, (), "pruned"),
        seen(2, 5_000, 800, {0.25: 0.99}, (0.99,)),  # larger
        seen(3, 2_000, 3_000, {0.25: 0.99}, (0.99,)),  # slower
        seen(4, 1, 1, {}, (), "rejected"),
    ]
    bars = _bars(earlier, Figures("columns", 4_000, 50, 2_000.0))
    doubt = 0.02  # as long as few trials are complete
    expected = {0.25: 0.82 - 0.05 - doubt, 0.5: 0.85 - 0.03 - doubt, 1.0: 0.9 - 0.01 - doubt}
    assert bars == pytest.approx(expected)


@pytest.mark.parametrize(
    ("offs", "doubt"),
    [
        ([0.05] * 9, 0.0),  # the first fold is easy for all alike
        ([0.00, 0.01, 0.02, 0.03, 0.04], 2 * 1.4826 * 0.01),
        ([0.00, 0.01, 0.02, 0.03, 0.90], 2 * 1.4826 * 0.01),  # one that failed in all other folds
    ],
)
def test_a_first_fold_decides_less_where_it_is_off_the_others(offs, doubt):
    earlier = [
        Record(number, {}, "complete", FIGURES, (0.9, 0.9 - 2 * off), {})
        for number, off in enumerate(offs)
    ]
    bars = _bars(earlier, Figures("columns", 4_000, 50, 2_000.0))
    assert bars == pytest.approx({1.0: 0.9 - 0.01 - doubt})


def test_a_kind_without_numbers_of_something_is_sketched_of_the_usual_points(make_points, space):
    settings = space.starts()[0]
    plain = SearchSpec({}, sketch={"epochs": 1})
    known = [sketch(make_points(), settings, each, 0) for each in (plain, space.searched)]
    assert known[0].figures.sram_bytes == known[1].figures.sram_bytes


def test_numbers_of_tables_are_short():
    columns = {"noise": ("input_noise",), "loss, start": ("loss", "init_projection")}
    told = SearchSpec({}, columns=columns).described({"input_noise": 0.123456789, "loss": "hinge"})
    assert told == "input_noise 0.1235"
