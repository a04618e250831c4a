"""``protonn-edge train``: Train a model from labelled data.

The module imports only options, so that help is fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protonn_edge.cli import options
from protonn_edge.cli.command import OUTPUT, Output, additions, command, option, options_of
from protonn_edge.cli.paths import check_output, check_there
from protonn_edge.cli.tables import TABLE
from protonn_edge.cli.train_additions import TrainAddition
from protonn_edge.cli.train_options import (
    ClassifierCommand,
    GivenClassifier,
    every_classifier,
)
from protonn_edge.data.options import TableOptions
from protonn_edge.learn.searched import BEST

if TYPE_CHECKING:
    from protonn_edge.learn.targets import Target


@dataclass(frozen=True)
class TrainOptions:
    """The options as they were given."""

    data: Path = options.POINTS
    output: Path = options.MODEL_OUTPUT
    classifier: GivenClassifier = every_classifier()
    start_from: Path | None = option(
        "Continue from a model file, or a folder of the reference implementation (W, B, Z, gamma).",
        options.MODEL_PATH,
    )
    groups: str | None = options.GROUPS
    added: list[TrainAddition] = additions("train")
    calibrate: Path | None = option(
        "Train nothing; adapt MODEL's answers to DATA, new points (docs/rejection.md, "
        "docs/health.md).",
        options.MODEL_PATH,
        metavar="MODEL",
    )
    seed: int = options.seed_option(2**32 - 1)
    test_share: float | tuple[str, ...] | None = options.HOLDOUT
    verbose: bool = option("Print the objective and accuracies after every epoch.", is_flag=True)
    minutes: float = option(
        "Time limit for --classifier best, in minutes.", options.FiniteRange(1e-3, 1e5), shown=5
    )
    metric: str = options.METRIC
    board_name: str = options.BOARD
    table: TableOptions = TABLE

    def steps(self, target: Target | None = None) -> list[Any]:
        """Return what the options of rules ask for, see `TrainAddition`."""
        steps = (each.step(target) for each in self.added)
        return [step for step in steps if step is not None]


@command(
    "train",
    ClassifierCommand,
    needs={
        "--minutes --metric --board": f"--classifier={BEST}",
    },
    apart={f"--classifier={BEST}": "--verbose"},
    examples=(
        "train.csv -o model.npz",
        "train.csv -o small.npz --budget 2kB --groups person",
        "windows.npz -o model.npz --features mean,deviation,min,max,crossings,bands:4",
        "calibration.csv --calibrate model.npz -o calibrated.npz",
    ),
)
def train_command(given: TrainOptions = options_of(TrainOptions), out: Output = OUTPUT) -> None:
    """Train a model on DATA and write it to a file.

    DATA is an .npz, .csv, .tsv or libsvm file, a folder of images, or a folder with
    train.txt and test.txt. If points have sets of labels, the model ranks the labels. With
    --classifier best, models of several kinds that fit the board are compared.
    """
    check_there(given.data)
    check_output(given.output)
    if given.calibrate is not None:
        from protonn_edge.cli.calibration import calibrate

        calibrate(given, given.calibrate, out)
        return
    given.classifier.parameters()  # refused before training is imported
    if given.classifier.name == BEST:
        from protonn_edge.cli.tuning import train_best

        train_best(given, out)
        return
    from protonn_edge.cli.training import train_model

    train_model(given, out)
