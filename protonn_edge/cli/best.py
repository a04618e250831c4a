"""What `train --classifier best` does: a search over all kinds, like `tune`, in a limited time."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from protonn_edge.boards import load_board
from protonn_edge.cli.command import Output
from protonn_edge.cli.fitting import load_grouped, with_sample_notices
from protonn_edge.cli.train import TrainOptions
from protonn_edge.cli.train_options import GivenClassifier, flags, was_given
from protonn_edge.cli.tune import TuneOptions
from protonn_edge.cli.tuning import search_model
from protonn_edge.datasets import holdout
from protonn_edge.errors import InputError
from protonn_edge.system.lazy import require
from protonn_edge.training.parameters import SharedParameters
from protonn_edge.training.searched import ANY, BEST
from protonn_edge.tuning import IN_FLIGHT

_OF_ONE_KIND = ("rate", "by", "normal", "verbose")
_SLOW = ("basis-images",)  # one trial, with its teacher, takes most of the time of the others
_TRIALS = 100_000  # the time ends the search


def train_best(given: TrainOptions, parameters: Mapping[str, Any], out: Output) -> None:
    """Train the best model of any kind, with parameters of all kinds, and write it."""
    for name in filter(was_given, _OF_ONE_KIND):
        raise InputError(f"{flags()[name]} is not for --classifier {BEST}; leave it out")
    require("optuna")
    load_board(given.board_name).check_is_chip("flash, SRAM and cycles")
    dataset = load_grouped(given.data, given.table, given.groups)
    dataset = dataset if given.share is None else holdout(dataset, given.share, given.seed)
    asked = SharedParameters(features=parameters.get("features")).asked
    with tempfile.TemporaryDirectory(prefix="protonn-edge-best-") as folder:
        search_model(
            _search_of(given, Path(folder)),
            parameters,
            with_sample_notices(dataset, asked),
            out,
            keeps_best=True,
            left_out=_SLOW,
        )


def _search_of(given: TrainOptions, folder: Path) -> TuneOptions:
    """Return the options of the search: those of `train`, its own ones, and no others."""
    options: dict[str, Any] = {
        each.name: getattr(given, each.name, None) for each in fields(TuneOptions)
    }
    options |= {
        "classifier": GivenClassifier(ANY, given.classifier.options),
        "trials": _TRIALS,
        "timeout": 60 * given.minutes,
        "in_flight": IN_FLIGHT,
        "search_path": folder / "search.jsonl",
    }
    return TuneOptions(**options)
