"""What `protonn-edge tune` finds, and that it survives what happens to long searches.

    python benchmarks/tuning.py [--only NAME] [--json]   # all of it: almost two hours on 2 cores
    python benchmarks/tuning.py --only usps10            # one search; usps10-at-random beside it
    python benchmarks/tuning.py --seconds 60             # a smoke run: sixty seconds a search

Nothing is chosen by test points; they are read once, for the accuracy that is printed. Exits with
1 where a figure falls short.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import rounding  # noqa: F401 - before NumPy
import click
import optuna
from printing import print_figures
from rows import DATA, Row
from svm import rbf_svm_accuracy

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import BuildOptions, build
from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.learn.folds import search_folds
from protonn_edge.learn.search.choice import Choice, candidates, refit
from protonn_edge.learn.search.cluster import DaskWorkers
from protonn_edge.learn.search.limits import TuningLimits
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.search import Progress, Search, SearchResult, identity
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Record, SearchFile, new_study
from protonn_edge.learn.search.workers import Processes, Workers
from protonn_edge.model.quantization import quantize

_UNO = load_board("uno")
_PROGRAM = (sys.executable, "-c", "from protonn_edge.cli import main; main()")
_TUNE = (*_PROGRAM, "tune", str(DATA / "usps10_libsvm.npz"))
_SEED = 0
Figures = dict[str, Any]
Verdict = tuple[Figures, bool]  # and whether what was asked is reached


@dataclass(frozen=True)
class Run:
    """Where and how long to search, and in how many processes."""

    folder: Path
    seconds: float
    jobs: int


@dataclass(frozen=True)
class Tuned:
    """A data set, the settings that all its trials have, and the accuracy that is asked for."""

    name: str
    file: str
    fixed: dict[str, Any] = field(default_factory=dict)
    groups: str | None = None
    percent: float | None = None  # None: that of an RBF-SVM less a point


_TUNED = (
    Tuned("usps10", "usps10_libsvm.npz", {"image_shape": (16, 16)}, percent=95.3),
    Tuned("letter26", "letter26.npz", percent=97.8),
    Tuned("har", "har_hapt.npz", groups="subject_train"),
    Tuned("watch", "watch_exercise.npz", groups="subject_train"),
)


def points_of(
    file: str,
    fixed: dict[str, Any],
    groups: str | None = None,
    limits: TuningLimits | None = None,
) -> tuple[TrialPoints, Dataset]:
    """Return the training points of a data set in folds, and all of it."""
    dataset = Row(file, file, groups=groups).dataset()
    if dataset is None:
        raise click.UsageError(f"no {file} in {DATA}; set PROTONN_EDGE_DATA")
    return in_folds(dataset, fixed, limits), dataset


def in_folds(
    dataset: Dataset, fixed: dict[str, Any] | None = None, limits: TuningLimits | None = None
) -> TrialPoints:
    """Return the training points of a data set in folds."""
    X, y, of_group = dataset.X_train, dataset.y_train, dataset.groups
    folds = search_folds(y, None, _SEED, of_group)
    return TrialPoints(X, y, folds, _UNO, limits or TuningLimits(), fixed or {}, of_group)


class AtRandom(SearchSpace):
    """Settings are drawn at random, also those of the first trials."""

    starts: ClassVar[list[dict[str, Any]]] = []

    def suggest(self, number: int, seed: int, seen: Sequence[Record]) -> dict[str, Any]:  # noqa: ARG002
        """Return settings that do not depend on earlier trials."""
        sampler = optuna.samplers.RandomSampler((seed * 1_000_003 + number) % 2**32)
        return dict(new_study(sampler=sampler).ask(self.distributions).params)


def searched(
    points: TrialPoints,
    make_workers: Callable[[Objective], Workers],
    path: Path,
    *,
    trials: int = 10_000,
    seconds: float | None = None,
    at_random: bool = False,
    choice: Choice | None = None,
    on_change: Callable[[Progress], object] | None = None,
) -> SearchResult:
    """Run a search into a file."""
    space = AtRandom(points) if at_random else SearchSpace(points)
    objective = Objective(space, _SEED)
    with (
        SearchFile(path, identity(objective), space.distributions) as file,
        make_workers(objective) as workers,
    ):
        deadline = None if seconds is None else time.monotonic() + seconds
        search = Search(file, workers, choice=choice, on_change=on_change)
        return search.run(trials=trials, deadline=deadline)


def accuracy(run: Run, of: Tuned, at_random: bool) -> Verdict:
    """Return what a search, or one at random of the same length, finds on a data set."""
    points, dataset = points_of(of.file, of.fixed, of.groups)
    choice = Choice.usual(of.groups is not None)
    began = time.monotonic()
    found = searched(
        points,
        partial(Processes, jobs=run.jobs),
        run.folder / f"{of.name}-{at_random}.jsonl",
        seconds=run.seconds,
        at_random=at_random,
        choice=choice,
    )
    records = found.records
    outcomes = [record.outcome for record in records]
    figures: Figures = {
        "trained": len(outcomes) - outcomes.count("infeasible"),
        "given_up": outcomes.count("pruned"),
        "infeasible": outcomes.count("infeasible"),
    }
    complete = candidates(records)
    if not complete:
        return figures, False
    ranked = choice.ranked(complete)
    chosen = refit(points, ranked, seed=_SEED, classes=dataset.classes, feature_names=(), search={})
    integers = quantize(chosen.model)
    right = integers.predict(integers.quantize(dataset.X_test)) == dataset.y_test
    target = of.percent or 100 * rbf_svm_accuracy(dataset) - 1
    percent = 100 * float(right.mean())
    figures |= {
        "choice": str(choice),
        "trial": chosen.candidate.number,
        "cross_validation_percent": round(100 * chosen.candidate.score, 2),
        "test_percent": round(percent, 2),
        "target_percent": round(target, 2),
        "flash_bytes": None if chosen.linked is None else chosen.linked.usage.flash_bytes,
        "seconds": round(time.monotonic() - began),
    }
    return figures, at_random or percent >= target


def limits(run: Run) -> Verdict:
    """Return what is chosen within 4 kB and 1 ms, and what it takes on the emulated Uno."""
    allowed = TuningLimits(flash_bytes=4_000, latency_ms=1.0)
    points, dataset = points_of("usps10_libsvm.npz", {}, limits=allowed)
    path = run.folder / "limits.jsonl"
    found = searched(points, partial(Processes, jobs=run.jobs), path, seconds=run.seconds)
    chosen = refit(
        points,
        Choice().ranked(candidates(found.records)),
        seed=_SEED,
        classes=dataset.classes,
        feature_names=(),
        search={},
    )
    project = run.folder / "limits"
    build(chosen.model, _UNO, project, BuildOptions(kernel=chosen.fit.figures.kernel))
    measured = measure(Project(project), (dataset.X_test, dataset.y_test), _UNO)
    assert chosen.linked is not None
    assert measured.summary.latency_ms is not None
    latency, classifier = measured.summary.latency_ms, chosen.linked.classifier
    figures = {
        "classifier_flash_bytes": classifier.flash_bytes,
        "firmware_flash_bytes": measured.usage.flash_bytes,
        "mean_latency_ms": latency.mean,
        "max_latency_ms": latency.max,
        "test_percent": round(100 * measured.summary.accuracy, 2),
        "points": measured.summary.n,
        "mismatches": measured.agreement.mismatches,
        "settings": chosen.candidate.settings,
    }
    fits = classifier.flash_bytes <= 4_000 and latency.max <= 1.0
    return figures, fits and not measured.agreement.mismatches


@contextlib.contextmanager
def cluster_of(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a Dask scheduler and workers of one thread each."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)

    host, port = "127.0.0.1", address.rsplit(":", 1)[1]
    processes = [start("scheduler", "--host", host, "--port", port)]
    processes += [start("worker", address, "--nthreads", "1", "--no-nanny") for _ in range(workers)]
    try:
        while True:  # ends by the connection, or by the scheduler's end
            assert processes[0].poll() is None, "the scheduler ended"
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
                break
            time.sleep(0.1)
        time.sleep(10)  # for the workers to come
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def two_workers(run: Run) -> Verdict:
    """Return how many more trials two workers of a Dask cluster end than one."""
    points, _ = points_of("usps10_libsvm.npz", {"epochs": 30})
    trained = {}
    for workers in (1, 2):
        with cluster_of(workers) as (address, _processes):
            path = run.folder / f"workers-{workers}.jsonl"
            remote = partial(DaskWorkers, address=address)
            found = searched(points, remote, path, seconds=run.seconds / 3)
        trained[workers] = sum(record.outcome != "infeasible" for record in found.records)
    ratio = trained[2] / max(trained[1], 1)
    figures = {"by_one": trained[1], "by_two": trained[2], "ratio": round(ratio, 2)}
    return figures, ratio >= 1.7


def lost_worker(run: Run) -> Verdict:
    """Return whether a search ends the same when one of its two workers is killed."""
    points, _ = points_of("usps10_libsvm.npz", {"epochs": 30})
    trials = max(8, round(run.seconds / 15))
    whole = searched(points, Workers, run.folder / "whole.jsonl", trials=trials)
    with cluster_of(2) as (address, processes):

        def kill_one(progress: Progress) -> None:
            if len(progress.records) >= 2:
                processes[0].kill()

        remote = partial(DaskWorkers, address=address)
        path = run.folder / "hurt.jsonl"
        hurt = searched(points, remote, path, trials=trials, on_change=kill_one)
    kept, best = (Choice().ranked(candidates(each.records))[0] for each in (hurt, whole))
    settings = [[dict(record.settings) for record in each.records] for each in (hurt, whole)]
    figures = {
        "trials": len(whole.records),
        "accounted_for": len(hurt.records),
        "same_settings": settings[0] == settings[1],
        "best_trial": kept.number,
        "without_the_kill": best.number,
    }
    same = settings[0] == settings[1] and kept.number == best.number
    return figures, same and kept.score == best.score


def kill(run: Run) -> Verdict:
    """Return how many trials are repeated after a kill -9."""
    output = run.folder / "killed.npz"
    some = run.seconds / 4
    tune = [*_TUNE, "-o", str(output), "--max-flash", "6kB", "--jobs", str(run.jobs)]
    process = subprocess.Popen([*tune, "--trials", "1000"], stderr=subprocess.DEVNULL)
    time.sleep(max(30.0, some))
    process.kill()
    process.wait()
    path = output.with_suffix(".search.jsonl")
    before = _numbers(path)
    again = [*tune, "--timeout", str(max(60.0, some))]
    subprocess.run(again, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = _numbers(path)
    repeated = len(after) - len(set(after))
    figures = {"before_the_kill": len(before), "in_the_end": len(after), "repeated": repeated}
    return figures, len(before) > 0 and not repeated and after[: len(before)] == before


def _numbers(path: Path) -> list[int]:
    lines = [
        json.loads(line) for line in path.read_text().splitlines(keepends=True) if "\n" in line
    ]
    told = [line.get("user_attrs", {}) for line in lines]
    return [attributes["number"] for attributes in told if "number" in attributes]


def impossible(run: Run) -> Verdict:
    """Return the error about limits that nothing can meet."""
    output = run.folder / "none.npz"
    tune = [*_TUNE, "-o", str(output), "--max-flash", "1kB", "--jobs", "1"]
    done = subprocess.run(tune, check=False, capture_output=True, text=True)
    figures = {"exit": done.returncode, "error": done.stderr.strip()}
    return figures, done.returncode == 1 and not output.exists()


_ROWS: dict[str, Callable[[Run], Verdict]] = {
    **{
        f"{of.name}{'-at-random' if at_random else ''}": partial(
            accuracy, of=of, at_random=at_random
        )
        for of in _TUNED
        for at_random in (False, True)
    },
    "limits": limits,
    "two-workers": two_workers,
    "lost-worker": lost_worker,
    "kill": kill,
    "impossible": impossible,
}


@click.command()
@click.option("--only", type=click.Choice(list(_ROWS)), help="One row.")
@click.option("--seconds", default=600.0, show_default=True, help="Of a search.")
@click.option("--jobs", default=2, show_default=True, help="Processes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seconds: float, jobs: int, as_json: bool) -> None:
    """Print what tuning finds, and what it survives."""
    short = False
    with tempfile.TemporaryDirectory(prefix="protonn-edge-tuning-") as scratch:
        for name, row in _ROWS.items():
            if only not in (None, name):
                continue
            figures, holds = row(Run(Path(scratch), seconds, jobs))
            short |= not holds
            print_figures(name, figures, holds, as_json)
    sys.exit(short)


if __name__ == "__main__":
    main()
