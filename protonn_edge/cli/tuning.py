"""The work of `tune`: a search, and the chosen model, trained and written.

`train --classifier best` does the same, with all kinds in a limited time.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, get_args

import joblib

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.cli import fitting, samples, training_data
from protonn_edge.cli.command import Output
from protonn_edge.cli.data import DataReport
from protonn_edge.cli.options import board_words
from protonn_edge.cli.train_additions import SearchAddition
from protonn_edge.cli.train_given import TrainOptions
from protonn_edge.cli.train_options import GivenClassifier
from protonn_edge.cli.trained import describe
from protonn_edge.cli.tune_given import TuneOptions
from protonn_edge.codegen.verification.agreement import PROVEN
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import of_held_out
from protonn_edge.learn.evaluation.fidelity import Promise
from protonn_edge.learn.folds import search_folds, with_groups_to_divide
from protonn_edge.learn.learner import LEARNERS
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.search import ANY, BEST
from protonn_edge.learn.search import choice as choices
from protonn_edge.learn.search.cluster import DaskWorkers
from protonn_edge.learn.search.limits import ACCURACY, TuningLimits, metric_of
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints, check_points
from protonn_edge.learn.search.search import SearchResult, identity, search
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Outcome, Record, SearchFile
from protonn_edge.learn.search.tables import candidate_table
from protonn_edge.learn.search.workers import Processes, Workers
from protonn_edge.learn.searched import FEATURES, KIND, settings_of_kind
from protonn_edge.learn.targets import Target
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import (
    CheckFailed,
    InputError,
    Interrupted,
    ProtoNNEdgeError,
    counted,
    unneeded,
)
from protonn_edge.system.figures import percent
from protonn_edge.system.lazy import require
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.shell import command_line

_TRIALS = 100_000  # the time ends the search


def tune_model(given: TuneOptions, out: Output, *, left_out: tuple[str, ...] = ()) -> None:
    """Search for a model, as the options of `tune` say, and write it.

    Ctrl-C ends the search with the best model so far. `left_out` are kinds that are not searched
    among any.
    """
    deadline = math.inf if given.timeout is None else time.monotonic() + given.timeout
    board = load_board(given.board_name)
    choices.check_choice(given.choose, board)
    if given.classifier.parameters().get("budget") is not None:
        raise unneeded("--budget", "determines the sizes, which 'tune' searches")
    dataset = _loaded(given, out)
    report = DataReport(dataset, out)
    points = _points(given, dataset, board, left_out)
    space = SearchSpace(points)
    searched = _search(given, space, deadline, report, out)
    outcomes = [record.outcome for record in searched.records]
    trials = choices.candidates(searched.records)
    if not trials:
        raise _nothing_complete(searched, given)
    facts = {
        "choice": given.choose,
        "metric": str(points.metric),
        "seed": given.seed,
        "folds": points.n_folds,
        "trials": {each: outcomes.count(each) for each in get_args(Outcome)},
    }
    with out.status("training the chosen model on all points"):
        refitted = _refitted(given, points, trials, dataset, facts)
    save_model(refitted.model, given.output)
    described, proportions = describe(refitted.model, dataset, out)
    promise = Promise.of(refitted.model)
    if promise is not None and described.get("accuracy") is not None:
        out.notice(promise.notices(described["accuracy"], described["n"], "test"))
    untried = _untried(trials, searched.records, points) if points.classifier == ANY else {}
    record = described | {"data": report.to_json(), "untried": untried}
    record |= _record(refitted, trials, facts, points)
    _say_candidates(trials, space, out)
    if untried:
        out.say("not compared: " + "; ".join(f"{kind} ({why})" for kind, why in untried.items()))
    said = [*_sentences(record, refitted, points), *proportions]
    out.say(*said, f"wrote {given.output}", "build the model with:", f"  {_build(given, refitted)}")
    stopped = f"stopped after {counted(len(trials), 'model')}; the best one so far is kept in "
    out.finish(record, Interrupted(f"{stopped}{given.output}") if searched.stopped else None)


def train_best(given: TrainOptions, out: Output) -> None:
    """Train the best model of any kind, with parameters of all kinds, and write it."""
    require("optuna")
    own: dict[str, Any] = {
        "classifier": GivenClassifier(ANY, given.classifier.options),
        "trials": _TRIALS,
        "timeout": 60 * given.minutes,
        "choose": BEST,
    }
    shared = {each.name: getattr(given, each.name, None) for each in fields(TuneOptions)}
    slow = tuple(name for name, kind in LEARNERS.items() if kind.is_slow)
    tune_model(TuneOptions(**{**shared, **own}), out, left_out=slow)


def _loaded(given: TuneOptions, out: Output) -> Dataset:
    """Return the data set, with labels that are what the options say, and groups to divide."""
    _, dataset = training_data.load_for(given, Target())
    check_points(dataset.as_targets(dataset.y_train))
    dataset, notices = with_groups_to_divide(dataset)
    out.notice(notices)
    asked = SharedParameters(features=given.classifier.parameters().get("features")).asked
    return samples.with_sample_notices(dataset, asked)


def _refitted(
    given: TuneOptions,
    points: TrialPoints,
    trials: list[Record],
    dataset: Dataset,
    facts: JsonObject,
) -> choices.Refitted:
    """Return the chosen model, trained on all points, or what an extension makes of it."""
    refitted = choices.refit(
        points,
        choices.ranked(trials, given.choose),
        seed=given.seed,
        classes=dataset.classes,
        feature_names=dataset.feature_names,
        search={**facts, "limits": asdict(points.limits), "board": points.board.name},
    )
    for each in given.added:
        if isinstance(each, SearchAddition):
            refitted = each.improved(points, given.choose, trials, refitted)
    model = points.metric.finished(refitted.model, dataset)
    return replace(refitted, model=training_data.of_data(model, dataset))


def _say_candidates(trials: list[Record], space: SearchSpace, out: Output) -> None:
    """Print the trials on the Pareto front, and the best of each kind."""
    points = space.points
    best = [*choices.best_of_kinds(choices.ranked(trials)).values()]
    for title, some in (
        ("the best of each kind in cross-validation:", best),
        (f"{points.metric} in cross-validation against size and time:", choices.front(trials)),
    ):
        if some:
            table = candidate_table(some, points.board, space.columns, points.metric)
            out.say(title, table)


def _untried(
    trials: list[Record], records: Sequence[Record], points: TrialPoints
) -> dict[str, str]:
    """Return why kinds of classifiers have no trial that could be chosen, by their names."""
    compared = choices.best_of_kinds(choices.ranked(trials))
    outcomes = {record.settings.get(KIND): record for record in records}
    untried = {}
    for kind in points.estimators:
        if kind in points.refused:
            untried[kind] = f"refused: {points.refused[kind]}"
        elif kind not in points.kinds:
            untried[kind] = f"slow; search it with 'tune --classifier {kind}'"
        elif kind in outcomes and kind not in compared:
            untried[kind] = outcomes[kind].reason or "no trial was completed"
        elif kind not in compared:
            untried[kind] = "no time or trial was left"
    return untried


def _points(
    given: TuneOptions, dataset: Dataset, board: Board, left_out: tuple[str, ...]
) -> TrialPoints:
    """Return the data of all trials; refuse options that cannot be combined."""
    parameters = given.classifier.parameters()
    limits = TuningLimits(
        given.max_flash, given.max_sram, given.max_latency_ms, given.max_energy_mj
    )
    limits.check(board)
    settled = samples.settled_samples(
        dataset,
        SharedParameters(features=parameters.get("features"), copies=parameters.get("copies") or 0),
    )
    every = {**parameters, **settled}
    fixed = {name: value for name, value in every.items() if value is not None}
    X, y, of_group = dataset.X_train, dataset.as_targets(dataset.y_train), dataset.groups
    metric = metric_of(dataset, given.metric)
    numbers = search_folds(metric.strata(y), given.folds, given.seed, of_group)
    to_move = None if given.groups is None else of_group  # not between a file's own groups
    metric.check_folds(y, numbers)
    kind = given.classifier.name
    if dataset.predicts == "value":
        given.classifier.check_regressor()
    points = TrialPoints(
        *(X, y, numbers, board, limits, fixed, to_move, kind, metric, left_out),
        *(dataset.gaps, dataset.preparation, _drift_in(dataset)),
    )
    of_trials = replace(dataset, groups=to_move)
    try:
        untrained = points.untrained({})
    except InputError:
        if kind == ANY:  # no kind takes the options: the first one refuses them by their names
            fitting.check_options(next(iter(metric.estimators.values()))(**fixed), of_trials)
        raise
    fitting.check_options(untrained, of_trials)
    return points


def _drift_in(dataset: Dataset) -> Any:
    """Return what another day adds to points when folds test them; None if nothing drifts."""
    if (division := dataset.division) is None or not division.drifting:
        return None
    return of_held_out(dataset, division) - dataset.X_train


def _search(
    given: TuneOptions,
    space: SearchSpace,
    deadline: float,
    report: DataReport,
    out: Output,
) -> SearchResult:
    """Run a search in the file that is given, or in one that it needs no longer at its end."""
    objective = Objective(space, given.seed)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="protonn-edge-best-"))
        path = given.search_path or Path(folder) / "search.jsonl"
        file = stack.enter_context(SearchFile(path, identity(objective)))
        space.begin(file.study)
        show = stack.enter_context(_progress(given, space.points, report, out))
        workers = stack.enter_context(_workers(objective, file, given))
        wanted: Any = {"trials": given.trials, "deadline": deadline, "choice": given.choose}
        return search(workers, on_change=show, **wanted)


@contextmanager
def _progress(
    given: TuneOptions, points: TrialPoints, report: DataReport, out: Output
) -> Iterator[Callable[[Sequence[Record]], None]]:
    """Show a bar of trials or seconds, the data after the first model, and each kind's best."""
    began, timeout = time.monotonic(), given.timeout
    unit, best = points.metric.unit, dict[str, float]()

    def shown(each: Record) -> str:
        return f"{points.metric.shown(each.score)} ±{points.metric.shown(each.deviation)}{unit}"

    with out.progress("searching", math.ceil(timeout or given.trials)) as bar:

        def show(records: Sequence[Record]) -> None:
            models = choices.ranked(choices.candidates(records))
            done = sum(each.outcome != "infeasible" for each in records)
            after = counted(len(models), "model")
            note = f"{after}, the best {shown(models[0])}" if models else ""
            bar.move_to(done if timeout is None else int(time.monotonic() - began), note)
            if models:
                report.say()
            for kind, each in choices.best_of_kinds(models).items():
                if each.score > best.get(kind, -math.inf):
                    best[kind] = each.score
                    found = f"{kind}: {points.metric} {shown(each)} in cross-validation"
                    out.remark(f"{found}, the best of this kind after {after}")

        yield show


def _workers(objective: Objective, file: SearchFile, given: TuneOptions) -> Workers:
    if isinstance(given.jobs, str):
        return DaskWorkers(objective, file, given.jobs)
    count = given.jobs or joblib.cpu_count()
    if count == 1 and given.timeout is None:  # a trial in this process could not be stopped then
        return Workers(objective, file)
    return Processes(objective, file, count)


def _nothing_complete(searched: SearchResult, given: TuneOptions) -> ProtoNNEdgeError:
    failures = [r.reason for r in searched.records if r.outcome == "failed"]
    if searched.stopped:
        more = "" if given.search_path is None else "; repeat the command to continue"
        return Interrupted(f"stopped before a model was finished; nothing is written{more}")
    if searched.timed_out:
        return CheckFailed(
            f"no trial was completed within {given.timeout:g} s; allow more time, or use fewer "
            "folds or points"
        )
    if failures:
        return CheckFailed(f"no trial was completed; the last one failed: {failures[-1]}")
    return CheckFailed("no trial was completed; raise --trials")


def _record(
    refitted: choices.Refitted, candidates: list[Record], facts: JsonObject, points: TrialPoints
) -> JsonObject:
    board, linked = points.board, refitted.linked
    best = choices.ranked(candidates)
    return {
        **facts,
        "cross_validated": refitted.candidate.to_json(board),
        "most_accurate": best[0].to_json(board),
        "kinds": {kind: each.to_json(board) for kind, each in choices.best_of_kinds(best).items()},
        "passed_over": {str(number): why for number, why in refitted.passed_over.items()},
        "planned": asdict(refitted.fit.figures),
        "linked": None
        if linked is None
        else {
            "classifier_flash_bytes": linked.classifier.flash_bytes,
            "classifier_sram_bytes": linked.classifier.sram_bytes,
            **linked.usage.to_json(board),
            "cycles": linked.possible.to_json(board),
        },
        "front": [each.to_json(board) for each in choices.front(candidates)],
    }


def _sentences(record: JsonObject, refitted: choices.Refitted, points: TrialPoints) -> list[str]:
    board, linked = points.board, refitted.linked
    time = ""
    if linked is not None and linked.possible.proven:
        time = f"; at most {board.time(linked.possible.most)}, {PROVEN}"
    metric = "" if points.metric == ACCURACY else f"{points.metric} "
    sizes = "".join(f", {size.symbol} = {size.number}" for size in refitted.model.sizes)
    kind, settings = settings_of_kind(refitted.candidate.settings)
    features = "" if FEATURES not in settings else f"features: {settings[FEATURES]}"
    noted = ", ".join(filter(None, (kind, features)))
    chosen = (
        f"chosen ({record['choice']}): trial "
        f"{refitted.candidate.number}{f' ({noted})' if noted else ''}, "
        f"{metric}{points.metric.shown(refitted.candidate.score)}{points.metric.unit} in "
        f"cross-validation{sizes}{time}"
    )
    passed = refitted.passed_over.items()
    said = [*(f"trial {number} is not taken: {reason}" for number, reason in passed), chosen]
    if "sentence" in record:
        said.append(record["sentence"])
    elif record["accuracy"] is not None:
        share = percent(record["accuracy"])
        said.append(f"{share} of {record['n']:,} test points are classified correctly")
    if linked is not None:
        said.append(
            f"linked: {linked.classifier.flash_bytes:,} B flash and "
            f"{linked.classifier.sram_bytes:,} B SRAM for the model, "
            f"{linked.usage.flash_bytes:,} B and {linked.usage.sram_bytes:,} B "
            "for the whole firmware"
        )
    return said


def _build(given: TuneOptions, refitted: choices.Refitted) -> str:
    """Return the command that builds the model in as much memory as the chosen plan needs."""
    words = ["build", str(given.output), *board_words(given.board_name)]
    if refitted.linked is not None:
        usage = refitted.linked.usage
        words += ["--max-flash", str(usage.flash_bytes)] * (given.max_flash is not None)
        words += ["--max-sram", str(usage.memory_bytes)] * (given.max_sram is not None)
    return command_line(["protonn-edge", *words])
