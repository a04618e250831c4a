"""The part of 'build' for a benchmark's firmware."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.build.mlperf import Benchmark, build_benchmark
from protonn_edge.build.project import BuildOptions
from protonn_edge.chain.model import Model
from protonn_edge.cli.command import Output
from protonn_edge.cli.live import refused_wrong_answers, say_tried
from protonn_edge.export.folder import BENCHMARK, check_folder, write_folder
from protonn_edge.report.terminal import budget_facts, fact_table


def build_for_benchmark(
    out: Output,
    model: Model,
    board: Board,
    folder: Path,
    benchmark: Benchmark,
    options: BuildOptions,
    points: tuple[NDArray[np.float32], NDArray[np.int64]] | None,
) -> dict[str, Any]:
    """Build firmware with a benchmark's serial protocol; return its facts for display."""
    check_folder(folder, BENCHMARK)
    record: dict[str, Any] = {"board": board.name, "folder": str(folder), "task": benchmark.task}
    with refused_wrong_answers(out, record), out.status(f"building for {board.name}"):
        done = build_benchmark(model, board, benchmark, options, points)
    write_folder(folder, done.files, BENCHMARK)
    n = 0 if points is None else len(points[1])
    facts = [
        ("task", f"{benchmark.task}{', energy' if benchmark.energy else ''}"),
        *budget_facts(done.usage, board),
        ("cycles", str(done.built.possible)),
        ("data", f"{n:,} points" if n else "none; give --data"),
    ]
    out.say(f"firmware for MLPerf Tiny on {board.name}:", fact_table(facts))
    say_tried(out, done.built.tried)
    return record | {"n": n, "tried": done.built.tried.to_json(), **asdict(done.usage)}
