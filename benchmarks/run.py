"""Run a benchmark: train models, run them, and print a table.

    python benchmarks/run.py BENCHMARK [--only ROW] [--seeds N] [--json] [--store]

`README.md` here describes the benchmarks, and where their data are from.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import rounding  # noqa: F401 - before NumPy
import click
from index import INDEX

from protonn_edge.system.errors import ProtoNNEdgeError

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # whose programs some benchmarks measure


class Benchmarks(click.Group):
    """All benchmarks; the module of one is imported when it runs, all for the list of them."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names."""
        return sorted(INDEX)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Return the command of a benchmark."""
        if name not in INDEX:
            return None
        command: click.Command = import_module(INDEX[name].module).BENCHMARKS[name].command(name)
        return command


@click.group(cls=Benchmarks, help=__doc__)
def main() -> None:
    """Run a benchmark."""


@main.result_callback()
def leave(holds: bool) -> None:
    """Exit with 1 where a row falls short."""
    sys.exit(holds is False)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
