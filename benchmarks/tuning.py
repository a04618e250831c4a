"""What `protonn-edge tune` finds, and that it survives what happens to long searches.

    python benchmarks/tuning.py                          # all of it, over an hour on 2 cores
    python benchmarks/tuning.py accuracy --only usps10   # one data set: the search, then at random
    python benchmarks/tuning.py limits cluster kill impossible
    python benchmarks/tuning.py --seconds 60             # a smoke run: sixty seconds a search

Nothing is chosen by test points; they are read once, for the accuracy that is printed.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from rows import DATA
from svm import rbf_svm_accuracy

from protonn_edge.boards import load_board
from protonn_edge.datasets import Dataset, load_dataset
from protonn_edge.measurement import measure
from protonn_edge.model import load_model
from protonn_edge.project import Project, Wishes, build
from protonn_edge.quantization import quantize
from protonn_edge.tuning import (
    Choice,
    DaskWorkers,
    Here,
    Points,
    Processes,
    Progress,
    Search,
    Searched,
    SearchFile,
    SearchSpace,
    TuningLimits,
    Workers,
    candidates,
    fold_numbers,
    identity,
    refit,
)

_UNO = load_board("uno")
_FOLDS = 3
_SEED = 0
# Name, file, settings of all trials, the array of groups, the target in % (None: SVM less a point).
_SETS: tuple[tuple[str, str, dict[str, Any], str | None, float | None], ...] = (
    ("usps10", "usps10_libsvm.npz", {"image_shape": (16, 16)}, None, 95.3),
    ("letter26", "letter26.npz", {}, None, 97.8),
    ("har", "har_hapt.npz", {}, "subject_train", None),
    ("watch", "watch_exercise.npz", {}, "subject_train", None),
)


def points_of(
    file: str,
    fixed: dict[str, Any],
    groups: str | None = None,
    limits: TuningLimits | None = None,
) -> tuple[Points, Dataset]:
    """Return the training points of a data set in folds, and all of it."""
    path = DATA / file
    if not path.is_file():
        raise click.UsageError(f"no {file} in {DATA}; set PROTONN_EDGE_DATA")
    dataset = load_dataset(path)
    names = None
    if groups is not None:
        with np.load(path, allow_pickle=False) as arrays:
            names = arrays[groups]
    folds = fold_numbers(dataset.y_train, _FOLDS, _SEED, names)
    X = dataset.X_train
    return Points(X, dataset.y_train, folds, _UNO, limits or TuningLimits(), fixed), dataset


def searched(
    points: Points,
    workers: Workers,
    path: Path,
    *,
    trials: int = 10_000,
    seconds: float | None = None,
    at_random: bool = False,
    on_change: Callable[[Progress], object] | None = None,
) -> Searched:
    """Run a search into a file."""
    space = SearchSpace.of(points, at_random=at_random)
    known_by = identity(points, space, seed=_SEED)
    with SearchFile(path, known_by, space.distributions) as file, workers:
        deadline = None if seconds is None else time.monotonic() + seconds
        search = Search(points, space, file, workers, seed=_SEED, on_change=on_change)
        return search.run(trials=trials, deadline=deadline)


def accuracy(folder: Path, seconds: float, jobs: int, only: str | None) -> None:
    """Print what a search and one at random of the same length find on each data set."""
    click.echo("data, search: trained (given up), rejected; cross-validation, test, target; flash")
    for name, file, fixed, groups, wanted in _SETS:
        if only not in (None, name):
            continue
        points, dataset = points_of(file, fixed, groups)
        target = wanted or 100 * rbf_svm_accuracy(dataset) - 1
        for at_random in (False, True):
            began = time.monotonic()
            path = folder / f"{name}-{at_random}.jsonl"
            found = searched(
                points, Processes(points, jobs), path, seconds=seconds, at_random=at_random
            )
            records = found.records.values()
            complete = candidates(records)
            if not complete:
                click.echo(f"{name}: no trial was complete in {seconds:g} s")
                continue
            ranked = Choice().ranked(complete)
            chosen = refit(
                points, ranked, seed=_SEED, classes=dataset.classes, feature_names=(), search={}
            )
            integers = quantize(chosen.model)
            right = integers.predict(integers.quantize(dataset.X_test)) == dataset.y_test
            outcomes = [record.outcome for record in records]
            linked = "-" if chosen.linked is None else f"{chosen.linked.usage.flash_bytes:,} B"
            click.echo(
                f"{name}, {'at random' if at_random else 'tune'}: "
                f"{len(outcomes) - outcomes.count('rejected')} ({outcomes.count('pruned')}), "
                f"{outcomes.count('rejected')}; {100 * chosen.candidate.accuracy:.2f} %, "
                f"{100 * right.mean():.2f} %, {target:.2f} %; {linked} linked; "
                f"{time.monotonic() - began:.0f} s"
            )


def limits(folder: Path, seconds: float, jobs: int) -> None:
    """Print what is chosen within 4 kB and 1 ms, and what it takes on the emulated Uno."""
    allowed = TuningLimits(flash_bytes=4_000, latency_ms=1.0)
    points, dataset = points_of("usps10_libsvm.npz", {}, limits=allowed)
    path = folder / "limits.jsonl"
    found = searched(points, Processes(points, jobs), path, seconds=seconds)
    chosen = refit(
        points,
        Choice().ranked(candidates(found.records.values())),
        seed=_SEED,
        classes=dataset.classes,
        feature_names=(),
        search={},
    )
    project = folder / "limits"
    build(chosen.model, _UNO, project, Wishes(kernel=chosen.fit.figures.kernel))
    measured = measure(Project(project), (dataset.X_test, dataset.y_test), _UNO)
    assert chosen.linked is not None
    assert measured.summary.latency_ms is not None
    latency, classifier = measured.summary.latency_ms, chosen.linked.classifier
    click.echo(
        f"4 kB and 1 ms: {chosen.candidate.record.settings}; classifier "
        f"{classifier.flash_bytes:,} B flash (with the firmware {measured.usage.flash_bytes:,}), "
        f"{latency.mean:.3f} ms mean, {latency.max:.3f} max, "
        f"{100 * measured.summary.accuracy:.2f} % of {measured.summary.n:,} test points, "
        f"{measured.agreement.mismatches} mismatches"
    )


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


def cluster(folder: Path, seconds: float) -> None:
    """Print how two workers compare with one, and that the loss of one changes nothing."""
    points, _ = points_of("usps10_libsvm.npz", {"epochs": 30})
    done = {}
    for workers in (1, 2):
        with cluster_of(workers) as (address, _processes):
            path = folder / f"workers-{workers}.jsonl"
            found = searched(points, DaskWorkers(points, address), path, seconds=seconds)
        done[workers] = sum(record.outcome != "rejected" for record in found.records.values())
    ratio = done[2] / max(done[1], 1)
    click.echo(f"trials in {seconds:g} s: {done[1]} by one worker, {done[2]} by two: x {ratio:.2f}")

    trials = max(4, done[1] // 2)
    whole = searched(points, Here(points), folder / "whole.jsonl", trials=trials)
    with cluster_of(2) as (address, processes):

        def kill_one(progress: Progress) -> None:
            if len(progress.records) >= 2:
                processes[0].kill()

        path = folder / "killed.jsonl"
        hurt = searched(
            points, DaskWorkers(points, address), path, trials=trials, on_change=kill_one
        )
    best = [Choice().ranked(candidates(each.records.values()))[0] for each in (whole, hurt)]
    same = {n: dict(r.settings) for n, r in whole.records.items()} == {
        n: dict(r.settings) for n, r in hurt.records.items()
    }
    click.echo(
        f"a worker killed: {len(hurt.records)} of {len(whole.records)} trials accounted for, the "
        f"same settings: {same}; best trial {best[1].record.number} with {best[1].accuracy:.6f}, "
        f"without the kill {best[0].record.number} with {best[0].accuracy:.6f}"
    )


def kill(folder: Path, seconds: float) -> None:
    """Print how many trials are repeated after a kill -9."""
    output = folder / "killed.npz"
    program = "from protonn_edge.cli import main; main()"
    command = [sys.executable, "-c", program, "tune", str(DATA / "usps10_libsvm.npz")]
    command += ["-o", str(output), "--max-flash", "6kB", "--jobs", "2"]
    process = subprocess.Popen([*command, "--trials", "1000"])
    time.sleep(max(30.0, seconds / 4))
    process.kill()
    process.wait()
    path = output.with_suffix(".search.jsonl")
    before = _numbers(path)
    subprocess.run([*command, "--timeout", str(max(60.0, seconds / 4))], check=True)
    after = _numbers(path)
    click.echo(
        f"kill -9 after {len(before)} finished trials: {len(after)} in the end, "
        f"{len(after) - len(set(after))} repeated, the first ones kept: "
        f"{after[: len(before)] == before}; {load_model(output).record['tuning']['trials']}"
    )


def _numbers(path: Path) -> list[int]:
    lines = [
        json.loads(line) for line in path.read_text().splitlines(keepends=True) if "\n" in line
    ]
    told = [line.get("user_attrs", {}) for line in lines]
    return [attributes["number"] for attributes in told if "number" in attributes]


def impossible(folder: Path) -> None:
    """Print what is said of limits that nothing can meet."""
    program = "from protonn_edge.cli import main; main()"
    command = [sys.executable, "-c", program, "tune", str(DATA / "usps10_libsvm.npz")]
    command += ["-o", str(folder / "none.npz"), "--max-flash", "1kB", "--jobs", "1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    click.echo(f"impossible limits: exit {done.returncode}, {done.stderr.strip()}")


_PARTS = ("accuracy", "limits", "cluster", "kill", "impossible")


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(_PARTS))
@click.option("--only", help="A data set of the part 'accuracy'.")
@click.option("--seconds", default=600.0, show_default=True, help="Of a search.")
@click.option("--jobs", default=2, show_default=True, help="Processes.")
def main(parts: tuple[str, ...], only: str | None, seconds: float, jobs: int) -> None:
    """Print the figures of the parts, by default of all."""
    with tempfile.TemporaryDirectory(prefix="protonn-edge-tuning-") as scratch:
        folder = Path(scratch)
        run: dict[str, Callable[[], None]] = {
            "accuracy": lambda: accuracy(folder, seconds, jobs, only),
            "limits": lambda: limits(folder, seconds, jobs),
            "cluster": lambda: cluster(folder, seconds / 3),
            "kill": lambda: kill(folder, seconds),
            "impossible": lambda: impossible(folder),
        }
        for part in parts or _PARTS:
            run[part]()


if __name__ == "__main__":
    main()
