"""Compare MLPerf Tiny's unmodified runner with `hil`: accuracy and throughput on the emulated Uno.

    python benchmarks/mlperf.py RUNNER [--only NAME] [--json]

RUNNER is the folder benchmark/runner of MLPerf Tiny, with the packages that it imports. It finds
the emulated Uno on a pseudo-terminal, since the list of serial ports names that. Two models are
trained with few epochs, one of words and one of images; `throughput` is the runner's median of five
windows, `hil` the clock divided by the mean cycles of the same five points.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import math
import os
import re
import runpy
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from mlperf_tiny.firmware import Benchmark, build_benchmark
from printing import Columns, print_table
from rows import DATA

from protonn_edge.boards import load_board
from protonn_edge.device import Result
from protonn_edge.emulator import EmulatedBoard
from protonn_edge.evaluation.measurement import measure
from protonn_edge.export.folder import write_folder
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.projects.folder import Project
from protonn_edge.projects.project import BuildOptions, build
from protonn_edge.toolchain.platformio import build_firmware

_TEST = """{task}:
  name: {task}
  model: {task}
  truth_file: y_labels.csv
  script:
    - loop 5:
      - download
      - infer {times} 10
"""
_WINDOW_S = 11.0  # ten are asked for


@dataclass(frozen=True)
class Task:
    """A task, with the data and the settings of its model."""

    name: str
    file: str
    settings: dict[str, Any]
    points: int


TASKS = [
    Task("kws01", "fsdd_mfcc.npz", {"epochs": 30}, 300),
    Task(
        "ic01",
        "mnist10.npz",
        {"epochs": 10, "features": "pool:14x14", "image_shape": (28, 28)},
        200,
    ),
]
COLUMNS: Columns = [
    ("task", lambda r: r["task"]),
    ("points", lambda r: f"{r['points']}"),
    ("runner %", lambda r: f"{r['runner_accuracy']:.1f}"),
    ("hil %", lambda r: f"{100 * r['accuracy']:.1f}"),
    ("runner, inferences/s", lambda r: f"{r['throughput']:.1f}"),
    ("hil, inferences/s", lambda r: f"{r['own_throughput']:.1f}"),
]


def measure_task(task: Task, runner: Path) -> dict[str, Any]:
    """Return the row of a task."""
    with np.load(DATA / task.file, allow_pickle=False) as data:
        train = data["X_train"][:8000].astype(np.float32), data["y_train"][:8000]
        X = data["X_test"][: task.points].astype(np.float32)
        y = data["y_test"][: task.points].astype(np.int64)
    model = ProtoNNClassifier(random_state=0, **task.settings).fit(*train).to_model()
    board, results = load_board("uno"), list[Result]()
    with TemporaryDirectory() as place:
        project, folder = Path(place, "project"), Path(place, "mlperf")
        build(model, board, project)
        own = measure(Project(project), (X, y), board, on_result=results.append)
        done = build_benchmark(model, board, Benchmark(task.name), BuildOptions(), (X, y))
        write_folder(folder, done.files)
        times = round(_WINDOW_S * board.clock_hz / own.cycles.mean)
        tests = Path(place, "tests.yaml")
        tests.write_text(_TEST.format(task=task.name, times=times))
        accuracy = _run(runner, folder, "a")
        throughput = _run(runner, folder, "p", "--test_script", str(tests))
    first = sorted(results, key=lambda result: result.index)[:5]
    return {
        "task": task.name,
        "points": len(y),
        "accuracy": own.accuracy,
        "runner_accuracy": float(re.findall(r"Top 1% = ([\d.]+)", accuracy)[0]),
        "throughput": float(re.findall(r"Median throughput is +([\d.]+)", throughput)[0]),
        "own_throughput": statistics.median(
            board.clock_hz / (each.cycles or math.nan) for each in first
        ),
    }


def _run(runner: Path, folder: Path, mode: str, *options: str) -> str:
    """Return what the runner prints, in a process of its own, which changes its own output."""
    command = [sys.executable, __file__, str(runner), "--folder", str(folder), "--mode", mode]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=False, timeout=1800
    )
    if done.returncode:
        raise SystemExit(f"the runner ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def run_runner(runner: Path, folder: Path, mode: str, options: tuple[str, ...]) -> None:
    """Run the runner's main.py in this process, with the emulated Uno as the only port."""
    elf = build_firmware(folder, "uno")
    with EmulatedBoard(elf, board=load_board("uno"), link="pty", wire_speed=True) as uno:
        port = SimpleNamespace(device=uno.url, vid=0x2341, pid=0x0043, description="Uno")
        sys.path.insert(0, str(runner))
        sys.argv = ["main.py", "-d", str(folder / "devices.yaml"), "-m", mode]
        sys.argv += ["-s", str(folder / "datasets"), *options]
        os.chdir(runner)
        with (
            patch("serial.tools.list_ports.comports", lambda *_: [port]),
            patch("usb.core.find", lambda **_: []),
        ):
            runpy.run_path("main.py", run_name="__main__")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("runner", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.option("--only", type=click.Choice([task.name for task in TASKS]), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
@click.option("--folder", type=click.Path(path_type=Path), hidden=True)
@click.option("--mode", hidden=True)
def main(
    runner: Path,
    options: tuple[str, ...],
    only: str | None,
    as_json: bool,
    folder: Path | None,
    mode: str,
) -> None:
    """Print what MLPerf Tiny's runner measures, beside `hil`."""
    if folder is not None:
        run_runner(runner.resolve(), folder, mode, options)
        return
    tasks = [task for task in TASKS if only in (None, task.name)]
    print_table((measure_task(task, runner) for task in tasks), COLUMNS, as_json)


if __name__ == "__main__":
    main()
