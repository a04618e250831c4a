"""The options of `convert`, as they were given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import click

from protonn_edge.cli import options
from protonn_edge.cli.command import argument, option
from protonn_edge.cli.options import BOARD, BYTES, PATH
from protonn_edge.cli.paths import MODEL, NETWORK, OutputFile
from protonn_edge.cli.tables import TABLE, names_option
from protonn_edge.data.options import TableOptions
from protonn_edge.extensions.conversion import EPOCHS, LAYOUTS, Features
from protonn_edge.model.limits import NORMALIZER_KINDS


@dataclass(frozen=True)
class ConvertOptions:
    """The options as they were given."""

    source: Path = argument(PATH)
    output: Path = option(
        "The model file (.npz) to write or, from a model file, the folder or .onnx file to write.",
        OutputFile(MODEL, NETWORK),
        required=True,
    )
    data: Path | None = option(
        "The training data or, if SOURCE is a model file, points on which it is compared with the "
        "new folder.  [default: if SOURCE is a folder, train.txt in it or two levels above it]",
        PATH,
    )
    reference: dict[str, str] = options.named_values(
        "The reference implementation's folder; repeatable. From a folder: normalization=none, "
        "standard or l2, as the features were before training or by the C++ program's option -N. "
        "To a folder: layout=text, for the C++ program, or npy, for the Python programs; "
        "features=raw, which W then expects, with the model's normalization folded into W and B, "
        "or normalized.  [default: none, text, raw]",
        normalization=click.Choice(NORMALIZER_KINDS),
        layout=click.Choice(LAYOUTS),
        features=click.Choice(get_args(Features)),
    )
    board_name: str = BOARD
    classes: tuple[str, ...] = names_option(
        "From a file with numbered classes (.json, .ubj, .txt, .onnx, .tflite): the names of "
        "classes 0, 1, and so on, separated by commas.  [default: the classes of the data, sorted]",
    )
    budget: int | None = option("From an estimator: maximum size of the int8 parameters.", BYTES)
    bits: int = option("From a float network: bits per Conv weight (8, 4 or 2).", shown=8)
    fine_tune: bool = option(
        "From a float network: train it further on the labels of the data, with weights of --bits "
        "bits.",
        is_flag=True,
    )
    epochs: int = option(
        "From an estimator or a network: epochs of training on its answers, if the conversion is "
        "not exact.",
        click.IntRange(0, 1_000_000),
        shown=EPOCHS,
    )
    table: TableOptions = TABLE
