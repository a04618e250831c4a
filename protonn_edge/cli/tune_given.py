"""The options of `tune`, as they were given."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import click

from protonn_edge.cli import options
from protonn_edge.cli.command import additions, option
from protonn_edge.cli.options import Parsed
from protonn_edge.cli.paths import OutputFile
from protonn_edge.cli.tables import TABLE
from protonn_edge.cli.train_additions import TrainAddition
from protonn_edge.cli.train_options import GivenClassifier, classifier_options, parameters_of
from protonn_edge.data.options import TableOptions
from protonn_edge.learn.search import ANY, BEST, CHOICES
from protonn_edge.model.registry import PARAMETERS

_QUANTITY = options.FiniteRange(1e-6, 1e6)
_SECONDS = options.FiniteRange(1e-3, 1e8)


def _read_jobs(text: str) -> int | str | None:
    """Return a number of processes, or the address of a scheduler; None for other texts."""
    if re.fullmatch(r"0*[1-9]\d{0,2}|1000", text):
        return int(text)
    return text if re.fullmatch(r"\w+://\S+", text) else None


_JOBS = Parsed(
    "N|ADDRESS",
    "is neither a number of processes, 1 to 1,000, nor an address such as tcp://host:8786",
    _read_jobs,
)


def _beside_output() -> Path | None:
    """Return the default of --search; click processes given options, such as -o, first."""
    output = click.get_current_context().params.get("output")
    return None if output is None else Path(output).with_suffix(".search.jsonl")


@dataclass(frozen=True)
class TuneOptions:
    """The options as they were given."""

    data: Path = options.POINTS
    output: Path = options.MODEL_OUTPUT
    board_name: str = options.BOARD
    max_flash: int | None = option(
        "Flash limit for the classifier's code and constants.", options.BYTES
    )
    max_sram: int | None = option("SRAM limit for the classifier's variables.", options.BYTES)
    max_latency_ms: float | None = option(
        "Limit on the worst-case time of a prediction.", _QUANTITY
    )
    max_energy_mj: float | None = option("Limit on a prediction's worst-case energy.", _QUANTITY)
    metric: str = options.METRIC
    trials: int = option(
        "Trials, including those of earlier runs.", click.IntRange(1, 100_000), shown=60
    )
    timeout: float | None = option("Time limit in seconds.", _SECONDS)
    choose: str = option(
        "Take the most accurate trial, or the smallest or fastest of those at most 0.5 percentage "
        "points below it.",
        click.Choice(CHOICES),
        shown=BEST,
    )
    jobs: int | str | None = option(
        "Number of processes, or a Dask scheduler, such as tcp://host:8786.  [default: a process "
        "per core]",
        _JOBS,
    )
    folds: int | None = option(
        "Folds.  [default: 3; 7 with --groups; 4 x 5 for few points]",
        click.IntRange(2, 20),
    )
    groups: str | None = options.GROUPS
    test_share: float | tuple[str, ...] | None = options.HOLDOUT
    holdout_rows: bool = options.HOLDOUT_ROWS
    # its help shows the options of features alone
    classifier: GivenClassifier = classifier_options((*PARAMETERS, ANY), parameters_of(ANY))
    added: list[TrainAddition] = additions("tune")
    seed: int = options.seed_option(2**31 - 1)
    search_path: Path | None = option(
        "File of finished trials.  [default: OUTPUT.search.jsonl]",
        OutputFile(dir_okay=False),
        flag="--search",
        default=_beside_output,
    )
    table: TableOptions = TABLE
