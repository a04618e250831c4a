"""``protonn-edge train``: train a model and write it; its options, for help at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from protonn_edge.chain.decision import Statistic
from protonn_edge.cli.calibrate import REJECTION_BY, rejection_rate
from protonn_edge.cli.command import OUTPUT, Output, command, option, options_of
from protonn_edge.cli.options import GROUPS, MODEL_OUTPUT, PATH, POINTS, FiniteRange, seed_option
from protonn_edge.cli.paths import check_output, check_there
from protonn_edge.cli.tables import TABLE
from protonn_edge.cli.train_options import ClassifierCommand, GivenClassifier, every_classifier
from protonn_edge.datasets.rules import TableOptions
from protonn_edge.system.lazy import later

_train_model = later("protonn_edge.cli.training", "train_model")


@dataclass(frozen=True)
class TrainOptions:
    """The options as they were given."""

    data: Path = POINTS
    output: Path = MODEL_OUTPUT
    classifier: GivenClassifier = every_classifier()
    start_from: Path | None = option(
        "A model file to continue training from, or a folder with the reference implementation's "
        "W, B, Z and gamma.",
        PATH,
    )
    groups: str | None = GROUPS
    rate: float | None = rejection_rate(
        'Answer "unknown" to inputs unlike any class; about this share of valid inputs, such as '
        "1%, is rejected by mistake."
    )
    by: tuple[Statistic, ...] = REJECTION_BY
    normal: str | None = option(
        "With --one-class: the normal class; others are only for testing.", metavar="LABEL"
    )
    seed: int = seed_option(2**32 - 1)
    share: float | None = option(
        "Report on this share of the training points, or groups, held out.",
        FiniteRange(0, 1, min_open=True, max_open=True),
        flag="--holdout",
    )
    verbose: bool = option("Print objective and accuracies after every epoch.", is_flag=True)
    table: TableOptions = TABLE


@command("train", ClassifierCommand)
def train_command(given: TrainOptions = options_of(TrainOptions), out: Output = OUTPUT) -> None:
    """Train a model on DATA and write it.

    DATA is an .npz, .csv, .tsv or libsvm file, or a folder with train.txt and test.txt. Sets of
    labels are ranked, in floats only.
    """
    check_there(given.data)
    check_output(given.output)
    _train_model(given, given.classifier.parameters(), out)
