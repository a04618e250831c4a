"""``protonn-edge train``: Train a model from labelled data.

The module imports only options, so that help is fast.
"""

from __future__ import annotations

from protonn_edge.cli.command import OUTPUT, Output, command, options_of
from protonn_edge.cli.paths import check_output, check_there
from protonn_edge.cli.train_given import TrainOptions
from protonn_edge.cli.train_options import ClassifierCommand
from protonn_edge.learn.search import BEST


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
        "windows.npz -o model.npz --features mean,deviation,min,max,change,crossings,bands:6",
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
    given.classifier.check(in_groups=given.groups is not None)  # before training is imported
    if given.classifier.name == BEST:
        from protonn_edge.cli.tuning import train_best

        train_best(given, out)
        return
    from protonn_edge.cli.training import train_model

    train_model(given, out)
