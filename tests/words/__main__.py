"""Run random programs on emulated cores: python -m words [N] [--first SEED] [--every]."""

from __future__ import annotations

import sys

import click

from words.random_programs import run


@click.command()
@click.argument("count", default=100)
@click.option("--first", default=0, help="The first seed.")
@click.option(
    "--every",
    is_flag=True,
    help="Run each program on every core at -O2 and -Os, and here under sanitizers.",
)
def main(count: int, first: int, every: bool) -> None:
    """Run COUNT random programs; those that differ from NumPy are printed."""
    programs, wrong = run(range(first, first + count), every=every)
    click.echo(f"{programs:,} programs, {wrong:,} points differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
