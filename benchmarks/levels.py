"""Check the bounds of random programs of every kind at each level of optimization.

    python benchmarks/levels.py [--cases 3000] [--seed 0] [--json]

Each program is a random chain with random kernels and feed, compiled for the Uno at one level by
the avr-gcc on PATH, and runs on the emulated one for 12 points. The table has a row a level: the
largest share of the longest path that a point took, the smallest multiple of the shortest one, and
the largest share of the claimed stack. Programs whose answers or bounds are wrong are printed with
their seeds; the exit code is then 1.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import click
from fuzz.programs import LEVELS, Case, check_case
from printing import Record, print_table

from protonn_edge.chips.toolchain.platformio import avr_gcc

COLUMNS = [
    ("avr-gcc", lambda r: r["compiler"]),
    ("level", lambda r: r["level"]),
    ("programs", lambda r: f"{r['programs']:,}"),
    ("refused or wrong", lambda r: f"{r['wrong']}"),
    ("measured / longest path", lambda r: f"{r['most']:.3f}"),
    ("median", lambda r: f"{r['median']:.3f}"),
    ("measured / shortest path", lambda r: f"{r['least']:.3f}"),
    ("stack / claimed", lambda r: f"{r['stack']:.3f}"),
]


@click.command(help=__doc__)
@click.option("--cases", type=click.IntRange(1), default=3_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the first case.")
@click.option("--json", "as_json", is_flag=True)
def main(cases: int, seed: int, as_json: bool) -> None:
    """Run the cases, and print the table."""
    measured, wrong = defaultdict[str, list[Case]](list), defaultdict[str, int](int)
    for each in range(seed, seed + cases):
        with TemporaryDirectory() as folder:
            try:
                case = check_case(each, Path(folder))
                measured[case.level].append(case)
                case.check()
            except Exception as error:  # noqa: BLE001  (each one is a finding)
                wrong[LEVELS[each % len(LEVELS)]] += 1
                click.echo(f"seed {each}: {type(error).__name__}: {error}", err=True)
    version = subprocess.run(
        [avr_gcc(), "-dumpversion"], capture_output=True, text=True, check=True
    )
    compiler: Record = {"compiler": version.stdout.strip()}
    levels = (level for level in LEVELS if measured[level])
    rows = (compiler | _row(level, measured[level], wrong[level]) for level in levels)
    print_table(rows, COLUMNS, as_json)
    sys.exit(any(wrong.values()))


def _row(level: str, cases: list[Case], wrong: int) -> Record:
    shares = sorted(case.cycles.max() / case.paths.longest.cycles for case in cases)
    return {
        "level": level,
        "programs": len(cases),
        "wrong": wrong,
        "most": float(shares[-1]),
        "median": float(shares[len(shares) // 2]),
        "least": min(float(case.cycles.min() / case.paths.shortest.cycles) for case in cases),
        "stack": max(case.stack_bytes / case.claimed_stack_bytes for case in cases),
    }


if __name__ == "__main__":
    main()
