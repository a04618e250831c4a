"""The work of `tune`: a search, and the chosen model, trained and written.

`train --classifier best` does the same, with all kinds in a limited time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import joblib

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.cli import fitting
from protonn_edge.cli.command import Output
from protonn_edge.cli.data import DataReport
from protonn_edge.cli.options import board_words
from protonn_edge.cli.train_given import TrainOptions
from protonn_edge.cli.train_options import GivenClassifier
from protonn_edge.cli.trained import describe
from protonn_edge.cli.tune_given import TuneOptions
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.verification.agreement import PROVEN
from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.learn.evaluation.fidelity import Promise
from protonn_edge.learn.folds import search_folds, with_groups_to_divide
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.search import BEST, tables
from protonn_edge.learn.search import choice as choices
from protonn_edge.learn.search.cluster import DaskWorkers
from protonn_edge.learn.search.limits import ACCURACY, TuningLimits, metric_of
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints, check_points
from protonn_edge.learn.search.search import Progress, Search, SearchResult, identity
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record, SearchFile
from protonn_edge.learn.search.workers import Processes, Workers
from protonn_edge.learn.searched import ANY, FEATURES, KIND, settings_of_kind
from protonn_edge.learn.targets import Target
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import CheckFailed, InputError, Interrupted, counted
from protonn_edge.system.extensions import extensions
from protonn_edge.system.lazy import require
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.shell import command_line

_TRIALS = 100_000  # the time ends the search


def tune_model(given: TuneOptions, out: Output) -> None:
    """Search for a model, as the options of `tune` say, and write it."""
    search_model(given, _loaded(given), out)


def _loaded(given: TuneOptions | TrainOptions) -> Dataset:
    """Return the data set, with labels that are what the options say."""
    target = Target()
    for added in given.added:
        target = added.completed(target)
    dataset = fitting.load_divided(given, target)
    for added in given.added:
        added.check(dataset)
    return dataset


def search_model(
    given: TuneOptions,
    dataset: Dataset,
    out: Output,
    *,
    keeps_best: bool = False,
    left_out: tuple[str, ...] = (),
) -> None:
    """Search for a model of a data set, and write it.

    - `keeps_best`: whether Ctrl-C keeps the best so far, instead of a search to be continued.
    - `left_out`: kinds that are not searched among any.
    """
    deadline = None if given.timeout is None else time.monotonic() + given.timeout
    board = load_board(given.board_name)
    choices.check_choice(given.choose, board)
    check_points(dataset.as_targets(dataset.y_train))
    dataset, notices = with_groups_to_divide(dataset)
    out.notice(notices)
    report = DataReport(dataset, out)
    points = replace(_points(given, dataset, board), left_out=left_out)
    space = SearchSpace(points)
    on_change = _teller(points, report, out if keeps_best else None)
    searched = _search(given, points, space, deadline, on_change, keeps_best)
    trials = choices.candidates(searched.records)
    if not trials:
        raise CheckFailed(_nothing_complete(searched, given.timeout))
    report.say()
    facts = {
        "choice": given.choose,
        "metric": str(points.metric),
        "seed": given.seed,
        "folds": points.n_folds,
        "trials": _counts(searched),
    }
    with out.status("training the chosen model on all points"):
        refitted = _refitted(given, points, trials, dataset, facts)
    model = points.metric.finished(refitted.model, dataset)
    refitted = replace(refitted, model=fitting.of_data(model, dataset))
    save_model(refitted.model, given.output)
    described, proportions = describe(refitted.model, dataset, out)
    promise = Promise.of(refitted.model)
    if promise is not None and described.get("accuracy") is not None:
        out.notice(promise.notices(described["accuracy"], described["n"], "test"))
    trained = described | {"data": report.to_json()}
    untried = _untried(trials, searched.records, points) if points.classifier == ANY else {}
    record = trained | {**_record(refitted, trials, facts, points), "untried": untried}
    _say_candidates(trials, points, space, out)
    if untried:
        out.say("not compared: " + "; ".join(f"{kind} ({why})" for kind, why in untried.items()))
    said = [*_sentences(record, refitted, points), *proportions]
    out.say(*said, f"wrote {given.output}")
    options = ["build", str(given.output), *board_words(given.board_name)]
    if isinstance(refitted.fit.plan, Plan):
        options += ["--plan", refitted.fit.plan.kernel]
    how = command_line(["protonn-edge", *options])
    out.say("build the model with:", f"  {how}")
    out.finish(record, _stopped(trials, given.output) if searched.stopped else None)


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
    for each in extensions():
        refitted = each.improved(points, given.choose, trials, refitted, given.seed) or refitted
    return refitted


def _stopped(trials: list[Record], output: Path) -> Interrupted:
    after = f"stopped after {counted(len(trials), 'model')}"
    return Interrupted(f"{after}; the best model so far is kept in {output}")


def _say_candidates(
    trials: list[Record], points: TrialPoints, space: SearchSpace, out: Output
) -> None:
    """Print the trials on the Pareto front, and the best of each kind."""
    if points.classifier == ANY:
        best = tables.kind_table(choices.best_of_kinds(trials), points.board, points.metric)
        out.say("the best of each kind in cross-validation:", best)
    table = tables.candidate_table(trials, points.board, space.searched.columns, points.metric)
    out.say(f"{points.metric} in cross-validation against size and time:", table)


def _untried(
    trials: list[Record], records: Sequence[Record], points: TrialPoints
) -> dict[str, str]:
    """Return why kinds of classifiers have no trial that could be chosen, by their names."""
    compared = choices.best_of_kinds(trials)
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


def _teller(
    points: TrialPoints, report: DataReport, out: Output | None
) -> Callable[[Progress], object]:
    """Return the function that prints the data after the first model and each kind's best."""
    said: dict[str, Record] = {}

    def tell(progress: Progress) -> None:
        candidates = choices.candidates(progress.records)
        if candidates:
            report.say()
        for kind, best in choices.best_of_kinds(candidates).items():
            if out is None:
                return
            if kind not in said or best.score > said[kind].score:
                said[kind] = best
                out.remark(
                    f"{kind}: {points.metric} {points.metric.shown(best.score)} "
                    f"±{points.metric.shown(best.deviation)}{points.metric.unit} in "
                    "cross-validation, the best of this kind after "
                    f"{counted(len(candidates), 'model')}"
                )

    return tell


def _points(given: TuneOptions, dataset: Dataset, board: Board) -> TrialPoints:
    """Return the data of all trials; refuse options that cannot be combined."""
    parameters = given.classifier.parameters()
    limits = TuningLimits(
        given.max_flash, given.max_sram, given.max_latency_ms, given.max_energy_mj
    )
    limits.check(board)
    settled = fitting.settled_samples(
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
        given.classifier.regressors()
    points = TrialPoints(X, y, numbers, board, limits, fixed, to_move, kind, metric)
    points = replace(points, gaps=dataset.gaps, preparation=dataset.preparation)
    of_trials = replace(dataset, groups=to_move)
    try:
        untrained = points.untrained({})
    except InputError:
        if kind == ANY:  # no kind takes the options: the first one refuses them by their names
            fitting.check_options(next(iter(metric.estimators.values()))(**fixed), of_trials)
        raise
    fitting.check_options(untrained, of_trials)
    return points


def _search(
    given: TuneOptions,
    points: TrialPoints,
    space: SearchSpace,
    deadline: float | None,
    on_change: Callable[[Progress], object],
    keeps_best: bool,
) -> SearchResult:
    """Run a search, with a live table on standard error if that is a terminal."""
    objective = Objective(space, given.seed)
    known_by = identity(objective)
    workers = _workers(objective, given)
    columns, seen = space.searched.columns, Progress((), 0, None)
    with (
        SearchFile(given.search_path, known_by, space.distributions) as file,
        tables.live_table(given.trials, points, columns) as show,
    ):

        def note(progress: Progress) -> None:
            nonlocal seen
            seen = progress
            on_change(progress)
            show(progress)

        try:
            with workers:
                search = Search(file, workers, choice=given.choose, on_change=note)
                return search.run(trials=given.trials, deadline=deadline)
        except KeyboardInterrupt:
            if keeps_best and choices.candidates(seen.records):
                return SearchResult(seen.records, timed_out=False, stopped=True)
            if keeps_best:
                raise Interrupted(
                    "stopped before a model was finished; nothing is written"
                ) from None
            raise Interrupted(
                f"stopped after {counted(len(seen.records), 'finished trial')}; repeat the command "
                "to continue with what is kept"
            ) from None


def _workers(objective: Objective, given: TuneOptions) -> Workers:
    if isinstance(given.jobs, str):
        return DaskWorkers(objective, given.jobs)
    count = given.jobs or joblib.cpu_count()
    if count == 1 and given.timeout is None:  # a trial in this process could not be stopped then
        return Workers(objective)
    return Processes(objective, count)


def _counts(searched: SearchResult) -> dict[str, int]:
    outcomes = [record.outcome for record in searched.records]
    return {each: outcomes.count(each) for each in ("complete", "pruned", "infeasible", "failed")}


def _nothing_complete(searched: SearchResult, timeout: float | None) -> str:
    failures = [r.reason for r in searched.records if r.outcome == "failed"]
    if searched.timed_out:
        return (
            f"no trial was completed within {timeout:g} s; allow more time, or use fewer folds or "
            "points"
        )
    if failures:
        return f"no trial was completed; the last one failed: {failures[-1]}"
    return "no trial was completed; raise --trials"


def _record(
    refitted: choices.Refitted, candidates: list[Record], facts: JsonObject, points: TrialPoints
) -> JsonObject:
    board, linked = points.board, refitted.linked
    return {
        **facts,
        "cross_validated": refitted.candidate.to_json(board),
        "most_accurate": choices.ranked(candidates)[0].to_json(board),
        "kinds": {
            kind: each.to_json(board) for kind, each in choices.best_of_kinds(candidates).items()
        },
        "passed_over": {str(number): why for number, why in refitted.passed_over.items()},
        "planned": asdict(refitted.fit.figures),
        "linked": None
        if linked is None
        else {
            "classifier_flash_bytes": linked.classifier.flash_bytes,
            "classifier_sram_bytes": linked.classifier.sram_bytes,
            **asdict(linked.usage),
            "cycles": asdict(linked.possible),
        },
        "front": choices.front_json(candidates, board),
    }


def _sentences(record: JsonObject, refitted: choices.Refitted, points: TrialPoints) -> list[str]:
    board, linked = points.board, refitted.linked
    time = ""
    if linked is not None and linked.possible.proven:
        time = f"; at most {board.milliseconds(linked.possible.most):.3f} ms, {PROVEN}"
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
        share = 100 * record["accuracy"]
        said.append(f"{share:.2f} % of {record['n']:,} test points are classified correctly")
    if linked is not None:
        said.append(
            f"linked: {linked.classifier.flash_bytes:,} B flash and "
            f"{linked.classifier.sram_bytes:,} B SRAM for the model, "
            f"{linked.usage.flash_bytes:,} B and {linked.usage.sram_bytes:,} B "
            "for the whole firmware"
        )
    return said


def train_best(given: TrainOptions, out: Output) -> None:
    """Train the best model of any kind, with parameters of all kinds, and write it."""
    parameters = given.classifier.parameters()
    require("optuna")
    load_board(given.board_name)  # a wrong name is refused before anything is read
    dataset = _loaded(given)
    asked = SharedParameters(features=parameters.get("features")).asked
    with tempfile.TemporaryDirectory(prefix="protonn-edge-best-") as folder:
        search_model(
            _search_of(given, Path(folder)),
            fitting.with_sample_notices(dataset, asked),
            out,
            keeps_best=True,
            left_out=tuple(name for name, kind in CLASSIFIERS.items() if kind.is_slow),
        )


def _search_of(given: TrainOptions, folder: Path) -> TuneOptions:
    """Return the options of the search: all of `train`, and its own."""
    options: dict[str, Any] = {
        each.name: getattr(given, each.name, None) for each in fields(TuneOptions)
    }
    options |= {
        "classifier": GivenClassifier(ANY, given.classifier.options),
        "trials": _TRIALS,
        "timeout": 60 * given.minutes,
        "choose": BEST,
        "jobs": None,
        "search_path": folder / "search.jsonl",
    }
    return TuneOptions(**options)
