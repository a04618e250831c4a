"""Check the bounds of random programs of every kind at each level of optimization.

Each program is a random chain with random kernels and feed, compiled for the Uno at one level by
the avr-gcc on PATH, and runs on the emulated one for 12 points. A row has the largest share of the
longest path that a point took, the smallest multiple of the shortest one, and the largest share of
the claimed stack. Programs whose answers or bounds are wrong are printed with their seeds.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from columns import Record, figure
from laws.fuzz.programs import LEVELS, check_case
from laws.fuzz.programs import Case as Checked
from runner import Benchmark, Case

from protonn_edge.chips.toolchain.platformio import avr_gcc


def measure(_case: Case, cases: int, seed: int) -> Iterator[Record]:
    """Run the programs, and yield a row a level."""
    measured, wrong = defaultdict[str, list[Checked]](list), defaultdict[str, int](int)
    for each in range(seed, seed + cases):
        with TemporaryDirectory() as folder:
            try:
                checked = check_case(each, Path(folder))
                measured[checked.level].append(checked)
                checked.check()
            except Exception as error:  # noqa: BLE001  (each one is a finding)
                wrong[LEVELS[each % len(LEVELS)]] += 1
                click.echo(f"seed {each}: {type(error).__name__}: {error}", err=True)
    version = subprocess.run(
        [avr_gcc(), "-dumpversion"], capture_output=True, text=True, check=True
    )
    for level in LEVELS:
        if measured[level]:
            yield {"compiler": version.stdout.strip(), **_row(level, measured[level], wrong[level])}


def _row(level: str, cases: list[Checked], wrong: int) -> Record:
    shares = sorted(case.cycles.max() / case.paths.longest.cycles for case in cases)
    return {
        "level": level,
        "programs": len(cases),
        "wrong": wrong,
        "holds": not wrong,
        "most": float(shares[-1]),
        "median": float(shares[len(shares) // 2]),
        "least": min(float(case.cycles.min() / case.paths.shortest.cycles) for case in cases),
        "stack": max(case.stack_bytes / case.claimed_stack_bytes for case in cases),
    }


BENCHMARKS = {
    "levels": Benchmark(
        "The bounds of random programs at each level of optimization.",
        [Case("programs")],
        (
            *(figure("avr-gcc", "compiler"), figure("level", "level")),
            *(figure("programs", "programs", ","), figure("refused or wrong", "wrong")),
            *(figure("measured / longest path", "most", ".3f"), figure("median", "median", ".3f")),
            figure("measured / shortest path", "least", ".3f"),
            figure("stack / claimed", "stack", ".3f"),
        ),
        measure,
        options=(
            click.option("--cases", type=click.IntRange(1), default=3_000, show_default=True),
            click.option("--seed", type=click.IntRange(0), default=0, help="Of the first program."),
        ),
    ),
}
