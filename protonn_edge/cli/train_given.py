"""The options of `train`, as they were given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protonn_edge.cli import options
from protonn_edge.cli.command import additions, option
from protonn_edge.cli.tables import TRAINING_TABLE
from protonn_edge.cli.train_additions import TrainAddition
from protonn_edge.cli.train_options import GivenClassifier, classifier_options
from protonn_edge.data.options import TableOptions
from protonn_edge.learn.search import BEST
from protonn_edge.model.registry import PARAMETERS

if TYPE_CHECKING:
    from protonn_edge.learn.targets import Target


@dataclass(frozen=True)
class TrainOptions:
    """The options as they were given."""

    data: Path = options.POINTS
    output: Path = options.MODEL_OUTPUT
    classifier: GivenClassifier = classifier_options((*PARAMETERS, BEST))
    start_from: Path | None = option(
        "Continue from a model file, or a folder of the reference implementation (W, B, Z, gamma).",
        options.PATH,
    )
    groups: str | None = options.GROUPS
    added: list[TrainAddition] = additions("train")
    calibrate: Path | None = option(
        "Train nothing; adapt MODEL's answers to DATA, new points (docs/rejection.md).",
        options.PATH,
        metavar="MODEL",
    )
    seed: int = options.seed_option(2**32 - 1)
    test_share: float | tuple[str, ...] | None = options.HOLDOUT
    holdout_rows: bool = options.HOLDOUT_ROWS
    verbose: bool = option("Print the objective and accuracies after every epoch.", is_flag=True)
    minutes: float = option(
        "Time limit for --classifier best, in minutes.", options.FiniteRange(1e-3, 1e5), shown=5
    )
    metric: str = options.METRIC
    board_name: str = options.BOARD
    table: TableOptions = TRAINING_TABLE

    def steps(self, target: Target | None = None) -> list[Any]:
        """Return what the options of rules ask for, see `TrainAddition`."""
        return [step for each in self.added if (step := each.step(target)) is not None]
