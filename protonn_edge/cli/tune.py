"""``protonn-edge tune``: Search for the most accurate model that fits the board."""

from __future__ import annotations

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.command import OUTPUT, Output, command, options_of
from protonn_edge.cli.paths import check_output, check_there
from protonn_edge.cli.train_options import ClassifierCommand
from protonn_edge.cli.tune_given import TuneOptions
from protonn_edge.system.lazy import require


@command(
    "tune",
    ClassifierCommand,
    examples=(
        "train.csv -o model.npz --timeout 60",
        "train.csv -o model.npz --max-flash 8000 --max-latency-ms 1 --search search.jsonl",
    ),
)
def tune_command(given: TuneOptions = options_of(TuneOptions), out: Output = OUTPUT) -> None:
    """Search for the most accurate model that fits the board, and write it.

    Repeat the command to continue. The test part is used once, at the end.
    """
    require("optuna")
    load_board(given.board_name)  # a wrong name is refused before anything is read
    check_there(given.data)
    check_output(given.output)
    given.classifier.parameters()  # refused before training is imported
    from protonn_edge.cli.tuning import tune_model

    tune_model(given, out)
