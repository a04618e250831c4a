"""``protonn-edge train``: train a model and write it; its options, for help at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from protonn_edge.cli.calibrate import by_option, rejection_option
from protonn_edge.cli.command import FiniteRange, json_option
from protonn_edge.cli.paths import MODEL, NameOrPath, OutputFile, check_there
from protonn_edge.cli.tables import table_options
from protonn_edge.cli.train_options import ClassifierCommand, classifier_options
from protonn_edge.system.lazy import later

_train_model = later("protonn_edge.cli.training", "train_model")


@click.command("train", cls=ClassifierCommand)
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=OutputFile(MODEL), required=True, help="The model file (.npz)."
)
@classifier_options
@click.option(
    "--start-from",
    type=click.Path(path_type=Path),
    help="A model file to continue training from, or a folder with the reference "
    "implementation's W, B, Z and gamma.",
)
@click.option(
    "--groups",
    type=NameOrPath(),
    help="An array of DATA, or a file with a line per training point: the person, day or "
    "sensor it came from.",
)
@rejection_option(
    'Answer "unknown" to inputs unlike any class; about this share of valid inputs, such as 1%, '
    "is rejected by mistake."
)
@by_option
@click.option(
    "--normal",
    metavar="LABEL",
    help="With --one-class: the normal class; others are only for testing.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of all random numbers.",
)
@click.option(
    "--holdout",
    "share",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Report on this share of the training points, or groups, held out.",
)
@click.option(
    "--verbose",
    is_flag=True,
    help="Print objective and accuracies after every epoch.",
)
@table_options
@json_option
def train_command(**options: Any) -> None:
    """Train a model on DATA and write it.

    DATA is an .npz, .csv, .tsv or libsvm file, or a folder with train.txt and test.txt. Sets of
    labels are ranked, in floats only.
    """
    check_there(options["data"])
    _train_model(**options)
