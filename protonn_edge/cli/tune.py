"""``protonn-edge tune``: search for the best model that fits the board, and write it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import joblib
from rich.console import Console
from rich.live import Live

from protonn_edge.avr.cores import BOUND_FLAGS
from protonn_edge.boards import Board, load_board
from protonn_edge.chain.file import save_model
from protonn_edge.cli.command import FiniteRange, Output, board_option, json_option
from protonn_edge.cli.data import DataReport
from protonn_edge.cli.fitting import check_options
from protonn_edge.cli.paths import FRONT, MODEL, SEARCH, NameOrPath, OutputFile, check_output
from protonn_edge.cli.quantities import Bytes
from protonn_edge.cli.tables import table_options
from protonn_edge.cli.train_options import (
    ClassifierCommand,
    any_classifier_options,
    given_parameters,
)
from protonn_edge.cli.trained import describe
from protonn_edge.cli.training_data import load_grouped, settled_samples
from protonn_edge.datasets import TableOptions
from protonn_edge.errors import CheckFailed, Interrupted
from protonn_edge.report.tuning import Columns, candidate_table, front_figure, progress_table
from protonn_edge.system.files import write_atomically
from protonn_edge.system.lazy import require
from protonn_edge.system.shell import command_line
from protonn_edge.training.accuracy_floor import with_accuracy_floor
from protonn_edge.training.searched import FEATURES, KIND, settings_of_kind
from protonn_edge.training.shared_parameters import SharedParameters
from protonn_edge.training.stored_points import is_large
from protonn_edge.tuning import (
    Candidate,
    Choice,
    DaskWorkers,
    InProcessWorkers,
    Points,
    Processes,
    Progress,
    Refitted,
    Search,
    SearchFile,
    SearchResult,
    SearchSpace,
    TuningLimits,
    Workers,
    candidates,
    fold_numbers,
    front_json,
    identity,
    refit,
    usual_folds,
)
from protonn_edge.tuning.choice import lead_by_chance
from protonn_edge.tuning.search import IN_FLIGHT
from protonn_edge.tuning.trial import check_points

_QUANTITY = FiniteRange(1e-6, 1e6)
_SECONDS = FiniteRange(1e-3, 1e8)


class _ChoosingCommand(ClassifierCommand):
    """Accepts ``--choose smallest-within 0.5`` without quotes, too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        joined: list[str] = []
        for word in args:
            kind = joined[-1] if joined[-2:-1] == ["--choose"] else ""
            if kind.endswith("-within") and re.fullmatch(r"[\d.]+|chance", word):
                joined[-1] += f" {word}"
            else:
                joined.append(word)
        return super().parse_args(ctx, joined)


def _beside_output() -> Path | None:
    """Return the default of --search; click processes given options, such as -o, first."""
    output = click.get_current_context().params.get("output")
    return None if output is None else Path(output).with_suffix(".search.jsonl")


@click.command("tune", cls=_ChoosingCommand)
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=OutputFile(MODEL), required=True, help="The model file (.npz)."
)
@board_option
@click.option(
    "--max-flash",
    type=Bytes(),
    help="Flash limit for the classifier's code and constants.",
)
@click.option("--max-sram", type=Bytes(), help="SRAM limit for the classifier's variables.")
@click.option(
    "--max-latency-ms",
    type=_QUANTITY,
    help="Limit on the worst-case time of a prediction.",
)
@click.option("--max-energy-mj", type=_QUANTITY, help="Limit on the mean energy of a prediction.")
@click.option(
    "--trials",
    type=click.IntRange(1, 100_000),
    default=60,
    show_default=True,
    help="Trials, with those of earlier runs.",
)
@click.option("--timeout", type=_SECONDS, help="Time limit in seconds.")
@click.option(
    "--choose",
    metavar="CHOICE",
    help="best; or smallest-within, fastest-within or default-within X points of the best, or "
    "'chance'.  [default: best; with --groups default-within chance]",
)
@click.option(
    "--jobs", type=click.IntRange(1, 1_000), help="Number of processes.  [default: one per core]"
)
@click.option("--dask", "scheduler", help="A Dask scheduler, such as tcp://host:8786.")
@click.option(
    "--folds",
    type=click.IntRange(2, 20),
    help="Folds of cross-validation.  [default: 3; of groups 7]",
)
@click.option(
    "--groups",
    type=NameOrPath(),
    help="An array of DATA, or a file with a line per training point: the person, day or "
    "sensor it came from.",
)
@any_classifier_options
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    default=0,
    show_default=True,
    help="Seed of all random numbers.",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1, 1000),
    default=IN_FLIGHT,
    show_default=True,
    help="Trials that run at the same time.",
)
@click.option(
    "--search",
    "search_path",
    type=OutputFile(SEARCH, dir_okay=False),
    default=_beside_output,
    help="File of finished trials.  [default: OUTPUT.search.jsonl]",
)
@click.option(
    "--front",
    "front_path",
    type=OutputFile(FRONT, dir_okay=False),
    help="Write the alternatives: .json, .svg, .png or .pdf.",
)
@table_options
@json_option
def tune_command(
    data: Path,
    output: Path,
    classifier: str,
    board_name: str,
    max_flash: int | None,
    max_sram: int | None,
    max_latency_ms: float | None,
    max_energy_mj: float | None,
    trials: int,
    timeout: float | None,
    choose: str | None,
    jobs: int | None,
    scheduler: str | None,
    folds: int | None,
    groups: str | None,
    seed: int,
    in_flight: int,
    search_path: Path,
    front_path: Path | None,
    table: TableOptions,
    as_json: bool,
    **options: Any,
) -> None:
    """Search for the most accurate model that fits the board, and write it.

    Models are compared by integer accuracy in cross-validation; the test part is read once, at the
    end. To continue a stopped search, repeat the command.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    check_output(output)
    if front_path is not None and front_path.suffix != ".json":
        require("matplotlib")  # to draw it, at the end
    choice = Choice.usual(groups is not None) if choose is None else Choice.parse(choose)
    if jobs is not None and scheduler is not None:
        raise click.UsageError("--jobs and --dask exclude each other; give one of them")
    out = Output(as_json)
    board = load_board(board_name)
    board.check_is_chip("flash, SRAM and cycles")
    limits = TuningLimits(max_flash, max_sram, max_latency_ms, max_energy_mj)
    dataset = load_grouped(data, table, groups)
    check_points(dataset.X_train, dataset.y_train)
    report = DataReport(dataset, dataset.notices, out)
    fixed = given_parameters(classifier, options)
    fixed |= settled_samples(dataset, SharedParameters(features=fixed.get("features")))
    fixed = {name: value for name, value in fixed.items() if value is not None}
    X, y, of_group = dataset.X_train, dataset.y_train, dataset.groups
    numbers = fold_numbers(y, folds or usual_folds(of_group), seed, of_group)
    to_move = None if is_large(X) else of_group  # data that is read in blocks is not shifted
    points = Points(X, y, numbers, board, limits, fixed, to_move, classifier)
    check_options(points.untrained({}), replace(dataset, groups=to_move))
    space = SearchSpace.of(points)
    columns = space.searched.columns
    known_by = identity(points, space, seed=seed, in_flight=in_flight)
    workers = _workers(points, jobs, scheduler, timeout)
    with SearchFile(search_path, known_by, space.distributions) as file:
        searched = _search(
            lambda on_change: Search(
                points,
                space,
                file,
                workers,
                seed=seed,
                in_flight=in_flight,
                choice=choice,
                on_change=on_change,
            ),
            workers,
            trials=trials,
            deadline=deadline,
            board=board,
            columns=columns,
            on_complete=report.say,
        )
    found = candidates(searched.records.values())
    if not found:
        raise CheckFailed(_nothing_complete(searched, timeout))
    report.say()
    told = {
        "choice": str(choice),
        "seed": seed,
        "folds": points.n_folds,
        "trials": _counts(searched),
    }
    with out.status("training the chosen model on all points"):
        refitted = refit(
            points,
            choice.ranked(found),
            seed=seed,
            classes=dataset.classes,
            feature_names=dataset.feature_names,
            search={**told, "limits": limits.to_json(), "board": board.name},
        )
    model = with_accuracy_floor(refitted.model, dataset.X_test, dataset.y_test)
    refitted = replace(refitted, model=replace(model, instrument=dataset.instrument))
    save_model(refitted.model, output)
    if front_path is not None:
        _write_front(front_path, found, board)
    described = describe(refitted.model, dataset, out) | {"data": report.to_json()}
    record = described | _record(refitted, found, told, points)
    out.say(
        "accuracy in cross-validation against what it takes:",
        candidate_table(found, board, columns),
    )
    words = ["build", str(output), *(["--board", board_name] if board_name != "uno" else [])]
    how = command_line(["protonn-edge", *words, "--plan", refitted.fit.figures.kernel])
    out.say(*_sentences(record, refitted, points, choice))
    out.say(f"wrote {output}", "build it with:", f"  {how}")
    out.finish(record)


def _search(
    make: Callable[[Callable[[Progress], object]], Search],
    workers: Workers,
    *,
    trials: int,
    deadline: float | None,
    board: Board,
    columns: Columns,
    on_complete: Callable[[], object],
) -> SearchResult:
    """Run a search, with a live table on standard error if that is a terminal.

    `on_complete` is called after each trained trial.
    """
    done = 0
    with _live(trials, board, columns) as show:

        def on_change(progress: Progress) -> None:
            nonlocal done
            done = len(progress.records)
            if any(record.outcome == "complete" for record in progress.records.values()):
                on_complete()
            show(progress)

        try:
            with workers:
                return make(on_change).run(trials=trials, deadline=deadline)
        except KeyboardInterrupt:
            raise Interrupted(
                f"stopped after {done:,} finished trials, which are kept; repeat the command to "
                "continue"
            ) from None


@contextmanager
def _live(trials: int, board: Board, columns: Columns) -> Iterator[Callable[[Progress], object]]:
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda _: None
        return
    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(progress: Progress) -> None:
            live.update(progress_table(progress, trials, board, columns), refresh=True)

        yield show


def _workers(
    points: Points, jobs: int | None, scheduler: str | None, timeout: float | None
) -> Workers:
    if scheduler is not None:
        return DaskWorkers(points, scheduler)
    count = jobs or joblib.cpu_count()
    # A fold in this process could not be stopped at the time limit.
    return InProcessWorkers(points) if count == 1 and timeout is None else Processes(points, count)


def _counts(searched: SearchResult) -> dict[str, int]:
    outcomes = [record.outcome for record in searched.records.values()]
    return {each: outcomes.count(each) for each in ("complete", "pruned", "rejected", "failed")}


def _nothing_complete(searched: SearchResult, timeout: float | None) -> str:
    failures = [r.reason for r in searched.records.values() if r.outcome == "failed"]
    if searched.timed_out:
        return (
            f"no trial was completed within {timeout:g} s; give a longer --timeout, or fewer "
            "--folds"
        )
    if failures:
        return f"no trial was completed; the last error: {failures[-1]}"
    return "no trial was completed; give more --trials"


def _write_front(path: Path, found: list[Candidate], board: Board) -> None:
    if path.suffix in (".svg", ".png", ".pdf"):
        write_atomically(path, front_figure(found, board, path.suffix.removeprefix(".")))
    else:
        write_atomically(path, json.dumps(front_json(found, board), indent=2) + "\n")


def _record(
    refitted: Refitted,
    found: list[Candidate],
    told: dict[str, Any],
    points: Points,
) -> dict[str, Any]:
    board, linked = points.board, refitted.linked
    return {
        **told,
        "cross_validated": refitted.candidate.to_json(board),
        "most_accurate": Choice().ranked(found)[0].to_json(board),
        "best_of_kinds": _best_of_kinds(found),
        "lead_by_chance": lead_by_chance(found),
        "planned": refitted.fit.figures.to_json(),
        "linked": None
        if linked is None
        else {
            "classifier_flash_bytes": linked.classifier.flash_bytes,
            "classifier_sram_bytes": linked.classifier.sram_bytes,
            **linked.usage.to_json(),
        },
        "front": front_json(found, board),
    }


def _best_of_kinds(found: list[Candidate]) -> dict[str, float]:
    """Return the best accuracy of each kind, best first; empty if only one was searched."""
    best: dict[str, float] = {}
    for candidate in Choice().ranked(found):
        kind = candidate.record.settings.get(KIND)
        if kind is not None:
            best.setdefault(kind, candidate.accuracy)
    return best


def _chance(record: dict[str, Any]) -> str:
    best, taken = record["most_accurate"], record["cross_validated"]
    lead, n = 100 * record["lead_by_chance"], record["trials"]["complete"]
    chance = f"the best of {n:,} equally good trials would be ahead by about {lead:.2f}"
    if best["trial"] == taken["trial"]:
        return f"no other trial is more accurate; {chance} points"
    ahead = 100 * (best["accuracy"] - taken["accuracy"])
    return (
        f"trial {best['trial']} is better, with {100 * best['accuracy']:.2f} %, by {ahead:.2f} "
        f"points; {chance}"
    )


def _sentences(
    record: dict[str, Any], refitted: Refitted, points: Points, choice: Choice
) -> list[str]:
    board, figures, linked = points.board, refitted.fit.figures, refitted.linked
    accuracy = 100 * refitted.candidate.accuracy
    sizes = "".join(f", {size.symbol} = {size.number}" for size in refitted.model.sizes)
    kind, settings = settings_of_kind(refitted.candidate.record.settings)
    features = "" if FEATURES not in settings else f"features: {settings[FEATURES]}"
    noted = ", ".join(filter(None, (kind, features)))
    chosen = (
        f"chosen ({record['choice']}): trial {refitted.candidate.record.number}"
        f"{f' ({noted})' if noted else ''}, "
        f"{accuracy:.2f} % in cross-validation{sizes}; "
        f"{board.milliseconds(figures.mean_cycles):.3f} ms on "
        f"average, at most {board.milliseconds(figures.worst_cycles):.3f} by {BOUND_FLAGS}"
    )
    said = [chosen]
    if record["best_of_kinds"]:
        best = (f"{name} {100 * share:.2f} %" for name, share in record["best_of_kinds"].items())
        said.append(f"the best of each kind in cross-validation: {', '.join(best)}")
    if choice.points is None:
        said.append(_chance(record))
    if record["accuracy"] is not None:
        share = 100 * record["accuracy"]
        said.append(f"test points: {share:.2f} % of {record['n']:,} in integers")
    if linked is not None:
        said.append(
            f"linked: {linked.classifier.flash_bytes:,} B flash and "
            f"{linked.classifier.sram_bytes:,} B SRAM for the classifier, "
            f"{linked.usage.flash_bytes:,} B and {linked.usage.sram_bytes:,} B with the firmware"
        )
    return said
