"""Run the fuzzers: ``make fuzz``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from laws.fuzz.areas import find_areas
from laws.fuzz.running import Finding, Progress, run_cases


@click.command("fuzz")
@click.option("--seconds", type=click.FloatRange(0), default=600.0, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the first case of each area.")
@click.option("--only", "names", multiple=True, metavar="AREA", help="Leave out the other areas.")
@click.option("--cases", type=click.IntRange(1), help="Of each area at most.  [default: no limit]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    hidden=True,
)
def main(
    seconds: float,
    seed: int,
    names: tuple[str, ...],
    cases: int | None,
    as_json: bool,
    folder: Path,
) -> None:
    """Run random cases of each area of the package, until the time is up.

    The exit code is 1 if there are findings.
    """
    areas = find_areas(folder)
    known = [area.name for area in areas]
    for name in names:
        if name not in known:
            raise click.UsageError(f"no area is called {name!r}; choose of {', '.join(known)}")
    chosen = [area for area in areas if not names or area.name in names]
    progress = run_cases(chosen, seed=seed, seconds=seconds, cases=cases, on_finding=_say)
    next_seed = max(one.next_seed for one in progress)
    if as_json:
        areas_json = [one.to_json() for one in progress]
        click.echo(json.dumps({"areas": areas_json, "next_seed": next_seed}))
    _say_totals(progress, next_seed, as_json)
    sys.exit(any(one.findings for one in progress))


def _say(finding: Finding) -> None:
    click.echo(f"{finding.area}, seed {finding.seed}: {finding.what}", err=True)
    again = f"--only {finding.area} --seed {finding.seed} --cases 1"
    click.echo(f'  to see it again: make fuzz ARGS="{again}"', err=True)


def _say_totals(progress: list[Progress], next_seed: int, to_stderr: bool) -> None:
    header = f"{'area':15}{'cases':>9}{'findings':>10}{'seconds':>9}{'next seed':>11}"
    click.echo(header, err=to_stderr)
    for one in progress:
        row = f"{one.area.name:15}{one.cases:9,}{len(one.findings):10,}{one.seconds:9.0f}"
        words = f"  skipped: {one.skipped}" if one.skipped else f"{one.next_seed:11}"
        click.echo(row + words, err=to_stderr)
    click.echo(f'to go on: make fuzz ARGS="--seed {next_seed}"', err=to_stderr)


if __name__ == "__main__":
    main(prog_name="fuzz")
