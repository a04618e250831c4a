"""With one worker, the sequence of trials is the same whatever interrupts it."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import time
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from learn.tuning.trials import judged
from optuna.trial import TrialState

from protonn_edge.learn.folds import search_folds
from protonn_edge.learn.search.limits import Figures, Judged, TuningLimits
from protonn_edge.learn.search.objective import Objective, _report
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.search.workers import Processes, Workers
from protonn_edge.learn.searched import SearchSpec, described
from protonn_edge.system.errors import CheckFailed, InputError

LIMITS = TuningLimits(flash_bytes=4_000, latency_ms=0.4)  # the second and the third start fit
FIGURES = Figures("columns", 3_000, 50, 1_000.0)


def essence(found):
    """Return what has to be the same each time: all but how long it took."""
    return without_times(found.records)


def without_times(records):
    return [replace(record, seconds=0) for record in records]


@dataclass(frozen=True, eq=False)
class Remembering(Objective):
    """Trains once for equal trials: the same settings, and complete ones beside them."""

    records: dict = field(default_factory=dict)

    def judge(self, trial):
        settings = self.space.draw(trial)
        finished = trial.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        equal = repr((trial.number, settings, [each.values for each in finished]))
        if equal not in self.records:
            self.records[equal] = super().judge(trial)
            return self.records[equal]
        record = self.records[equal]
        for step in range(1, len(record.scores) + 1):
            _report(trial, [Judged(score, score, 0) for score in record.scores[:step]])
        for name, used in record.excess.items():
            trial.set_constraint(name, used)
        return record


@pytest.fixture(scope="module")
def limited(make_objective):
    return make_objective(limits=LIMITS)


@pytest.fixture(scope="module")
def remembering(limited):
    """Return the same objective for searches of this process, which differ in what ends them."""
    return Remembering(limited.space, limited.seed)


@pytest.fixture(scope="module")
def reference(remembering, search, tmp_path_factory):
    """Return what an undisturbed search finds."""
    return essence(search(remembering, tmp_path_factory.mktemp("search") / "search.jsonl"))


def test_a_search_trains_as_many_as_it_should_and_rejects_what_does_not_fit(reference):
    outcomes = [record.outcome for record in reference]
    assert len(outcomes) - outcomes.count("infeasible") == 6
    assert outcomes.count("infeasible") > 0
    assert [record.number for record in reference] == list(range(len(reference)))
    for record in reference:
        if record.outcome == "complete":
            assert record.figures.flash_bytes <= 4_000
            assert len(record.accuracies) == 2
            assert all(0 < accuracy <= 1 for accuracy in record.accuracies)


def test_another_seed_is_another_sequence(make_objective, search, tmp_path, reference):
    found = search(make_objective(limits=LIMITS, seed=1), tmp_path / "s")
    assert essence(found) != reference


def test_a_search_that_is_stopped_goes_on_where_it_was(remembering, search, tmp_path, reference):
    for stop_at in (2, 5):

        def stop(records, stop_at=stop_at):
            if len(records) == stop_at:
                raise KeyboardInterrupt

        stopped = search(remembering, tmp_path / "s", on_change=stop)
        assert stopped.stopped
        assert essence(stopped) == reference[:stop_at]
    assert essence(search(remembering, tmp_path / "s")) == reference


def test_ctrl_c_within_a_trial_loses_that_one_alone(remembering, search, tmp_path, reference):
    class Interrupted(Remembering):
        def judge(self, trial):
            if trial.number == 3:
                raise KeyboardInterrupt
            return super().judge(trial)

    interrupted = Interrupted(remembering.space, remembering.seed, remembering.records)
    for _ in range(2):
        assert essence(search(interrupted, tmp_path / "s")) == reference[:3]
    assert essence(search(remembering, tmp_path / "s")) == reference


def test_a_shorter_search_is_the_beginning_of_a_longer_one(
    remembering, search, tmp_path, reference
):
    for trials in (1, 3):
        search(remembering, tmp_path / "s", trials=trials)
    assert essence(search(remembering, tmp_path / "s")) == reference


def test_a_search_goes_on_after_a_process_was_killed(limited, search, tmp_path, reference):
    killed, processes = [], functools.partial(Processes, in_flight=2)

    def kill_one(records):
        if len(records) >= 3 and not killed:  # another change may come before the loss is noticed
            killed.append(multiprocessing.active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(CheckFailed, match="a trial was lost with its worker"):
        search(limited, tmp_path / "s", processes, on_change=kill_one)
    found = search(limited, tmp_path / "s", processes).records
    assert sorted(record.number for record in found) == list(range(len(found)))
    assert sum(record.outcome != "infeasible" for record in found) in (6, 7)
    settings = [record.settings for record in sorted(found, key=lambda record: record.number)]
    starts = [dict(start) for start in limited.space.starts]
    assert settings[: len(starts)] == starts[: len(settings)]


def test_ctrl_c_while_a_process_starts_stops_the_search(limited, search, tmp_path):
    class Interrupted(Processes):
        def __enter__(self):
            super().__enter__()
            start = self._pool.submit

            def submit(*words):
                os.kill(os.getpid(), signal.SIGINT)
                return start(*words)

            self._pool.submit = submit
            return self

    # what a shell starts in the background ignores it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found = search(limited, tmp_path / "s", functools.partial(Interrupted, in_flight=2))
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stopped
    assert not found.records


def test_a_worker_that_is_lost_between_trials_is_told_of(limited, search, tmp_path):
    class Lost(Workers):
        def submit(self, number):
            if number == 2:
                raise BrokenExecutor("a process ended")
            return super().submit(number)

    with pytest.raises(CheckFailed, match="a trial was lost with its worker"):
        search(limited, tmp_path / "s", Lost)


def test_time_ends_a_search_and_the_next_one_goes_on(remembering, search, tmp_path, reference):
    over = search(remembering, tmp_path / "s", deadline=time.monotonic())
    assert over.timed_out
    found = search(remembering, tmp_path / "s", deadline=time.monotonic() + 3600)
    assert not found.timed_out
    assert essence(found) == reference


@pytest.mark.parametrize(("choice", "timed_out"), [("best", False), ("smallest", True)])
def test_time_is_left_for_training_what_will_be_chosen(
    make_objective, search, space, tmp_path, choice, timed_out
):
    """Of two finished trials the less accurate one is smaller, and takes longer to train."""
    small = replace(FIGURES, flash_bytes=2_000)
    best, smallest = space.starts[:2]
    done = [
        Record(0, best, "complete", FIGURES, (0.90, 0.90), 1.0, accuracies=(0.9, 0.9)),
        Record(1, smallest, "complete", small, (0.896, 0.896), 1e3, accuracies=(0.8, 0.8)),
    ]
    found = search(
        make_objective(),
        tmp_path / "s",
        done=done,
        trials=2,
        deadline=time.monotonic() + 100,
        choice=choice,
    )
    assert found.timed_out == timed_out


def test_few_points_are_divided_several_times(make_objective, make_points, search, tmp_path):
    points = make_points()
    points = replace(points, X=points.X[:100], y=points.y[:100])
    points = replace(points, folds=search_folds(points.y, None, 0)[:, 1:3] - 5)
    found = search(make_objective(points=points), tmp_path / "s", trials=1)
    (record,) = found.records
    assert record.outcome == "complete"
    assert len(record.scores) == points.n_folds == 10
    rounded = np.round(
        np.array(record.accuracies) * [(points.folds == k).sum() for k in range(10)], 9
    )
    assert np.array_equal(rounded, np.round(rounded))  # each fold is tested on its own points
    assert 0 < record.loss < np.log(10)


def test_limits_that_nothing_meets_name_the_nearest_and_what_limits_it(
    make_objective, search, tmp_path, monkeypatch
):
    monkeypatch.setattr("protonn_edge.learn.search.search._REJECTED_IN_A_ROW", 8)
    objective = make_objective(limits=TuningLimits(flash_bytes=900, latency_ms=50))
    seen = []
    with pytest.raises(CheckFailed) as caught:
        search(objective, tmp_path / "s", on_change=seen.append)
    sentence, tried = str(caught.value), seen[-1]
    nearest = min(tried, key=lambda record: max(record.excess.values()))
    assert "B flash (--max-flash is 900)" in sentence
    assert "--max-latency-ms" not in sentence
    assert f"n_prototypes {nearest.settings['n_prototypes']}" in sentence
    with pytest.raises(CheckFailed, match="--max-flash is 900"):  # and at once from the file
        search(objective, tmp_path / "s")


def test_settings_that_give_no_model_are_a_trial_that_failed(
    make_objective, search, tmp_path, monkeypatch
):
    def refuse(*_):
        raise InputError("no such model")

    monkeypatch.setattr(Objective, "sketch", refuse)
    found = search(make_objective(), tmp_path / "s", trials=3)
    assert {record.outcome for record in found.records} == {"failed"}
    assert found.records[0].reason == "no such model"


def seen(*outcomes):
    """Return earlier trials with these scores and outcomes in each of two folds."""
    return [
        Record(number, {}, outcome, FIGURES, (score, score))
        for number, (score, outcome) in enumerate(outcomes)
    ]


def test_a_trial_is_pruned_after_a_fold_in_the_lowest_quarter_of_the_complete_ones(
    make_objective, space, monkeypatch
):
    settings = space.starts[0]
    monkeypatch.setattr(SearchSpace, "starts", [])  # which are never pruned
    objective = make_objective()
    complete = judged(objective, settings)
    score = complete.scores[0]
    above, below = (score + 0.01, "complete"), (score - 0.01, "complete")
    others = seen(*[above] * 6, *[(0.0, "infeasible")] * 9)
    pruned = judged(objective, settings, others)
    assert (pruned.outcome, pruned.scores) == ("pruned", [score])
    for kept in (seen(*[below] * 2, *[above] * 4), seen(*[above] * 4)):  # 4 are too few
        assert replace(judged(objective, settings, kept), seconds=0) == replace(complete, seconds=0)


def test_a_pruned_trial_is_kept_but_none_of_the_first_ones_is_pruned(
    make_objective, search, space, tmp_path
):
    best = replace(seen((1.0, "complete"))[0], accuracies=(1.0, 1.0))
    objective, count = make_objective(), len(space.starts)
    found = search(objective, tmp_path / "s", done=[best] * count, trials=count + 1)
    assert found.records[-1].outcome == "pruned"
    assert len(found.records[-1].scores) == 1
    begun = search(objective, tmp_path / "t", trials=1).records
    assert begun[0].outcome == "complete"


def test_a_kind_without_numbers_of_something_is_sketched_of_the_usual_points(
    make_objective, space, monkeypatch
):
    known = make_objective().sketch(space.starts[0])
    specs = {"protonn": {None: SearchSpec({}, sketch={"epochs": 1})}}
    monkeypatch.setattr(SearchSpace, "specs", specs)
    assert make_objective().sketch(space.starts[0]).figures.sram_bytes == known.figures.sram_bytes


def test_sizes_of_messages_are_short():
    columns = {"noise": ("input_noise",), "loss, start": ("loss", "init_projection")}
    told = described({"input_noise": 0.123456789, "loss": "hinge"}, columns)
    assert told == "input_noise 0.1235"
