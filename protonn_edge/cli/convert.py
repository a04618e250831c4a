"""``protonn-edge convert``: models of other programs become ours, and ours theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from protonn_edge.cli.command import Command, Output, json_option
from protonn_edge.cli.train import (
    check_output,
    describe,
    reference_model_for,
    sentence_of,
    with_accuracy_floor,
)
from protonn_edge.conversion import Features, same_answers, to_reference
from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.dataset import dense_features
from protonn_edge.errors import InputError
from protonn_edge.model import load_model, save_model
from protonn_edge.reference_model import LAYOUTS, Layout, write_reference_model
from protonn_edge.sizes import paper_bytes

_PATH = click.Path(path_type=Path)


@click.command("convert", cls=Command)
@click.argument("source", type=_PATH)
@click.option("-o", "--output", type=_PATH, required=True, help="A model file, or a folder.")
@click.option(
    "--data",
    type=_PATH,
    help="The training data.  [default: train.txt in the folder, or two above it]",
)
@click.option(
    "--normalization",
    type=click.Choice(["none", "standard", "minmax", "l2"]),
    default="none",
    show_default=True,
    help="From a folder: what was done to the features before training, or by its -N.",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default=LAYOUTS[0],
    show_default=True,
    help="To a folder: as the C++ program writes it, or as the Python programs do.",
)
@click.option(
    "--features",
    type=click.Choice(["raw", "normalized"]),
    default="raw",
    show_default=True,
    help="To a folder: what its W is for; raw folds the model's normalization into W and B.",
)
@json_option
def convert_command(
    source: Path,
    output: Path,
    data: Path | None,
    normalization: str,
    layout: Layout,
    features: Features,
    as_json: bool,
) -> None:
    """Convert SOURCE, a folder of the reference implementation or a model file, into the other.

    A folder has the files W, B, Z and gamma, or the same as .npy. Its model has neither the ranges
    of the features nor the names of the classes, which come from the training data.

    Estimators of scikit-learn are converted in Python, where they are: see
    protonn_edge.conversion.from_sklearn.
    """
    out = Output(as_json)
    if source.is_dir():
        record = _from_folder(source, output, data, normalization, out)
    else:
        record = _to_folder(source, output, data, layout, features, out)
    out.finish(record)


def _from_folder(
    folder: Path, output: Path, data: Path | None, normalization: str, out: Output
) -> dict[str, Any]:
    check_output(output)
    dataset = load_dataset(data or _training_data(folder))
    model = reference_model_for(dataset, folder, normalization)
    model = with_accuracy_floor(model, dataset)
    record = describe(model, dataset)
    save_model(model, output)
    out.say(sentence_of(record), f"wrote {output}")
    return record


def _training_data(folder: Path) -> Path:
    """Return the folder with train.txt: results lie in DATA/results/SETTINGS."""
    for candidate in (folder, *folder.resolve().parents[1:2]):
        if (candidate / "train.txt").is_file():
            return candidate
    raise InputError(
        f"{folder} has matrices alone, and a model needs the ranges of the features and the names "
        "of the classes; name the training data with --data"
    )


def _to_folder(
    source: Path,
    output: Path,
    data: Path | None,
    layout: Layout,
    features: Features,
    out: Output,
) -> dict[str, Any]:
    if output.suffix == ".npz":
        raise InputError(
            f"{source} becomes a folder, but the output is called {output.name!r}; name a folder, "
            "or give a folder to convert"
        )
    model = load_model(source)
    reference = to_reference(model, features)
    record: dict[str, Any] = {
        "layout": layout,
        "features": features,
        "paper_bytes": paper_bytes(reference),
        "n": 0,
        "same_answers": None,
    }
    if data is not None:
        dataset = load_dataset(data)
        points = dataset.X_test if dataset.X_test.shape[0] else dataset.X_train
        X = dense_features(points, str(data))
        record |= {"n": len(X), "same_answers": same_answers(model, reference, X, features)}
    write_reference_model(reference, output, layout)
    if record["same_answers"] is not None:
        out.say(
            f"of {record['n']:,} points, {100 * record['same_answers']:.2f} % have the same answer"
        )
    if model.cutoff > 0:
        out.say(
            f"kernel values below {model.cutoff:.3g} count nothing in this model, and do count in "
            "the reference implementation: some points may be answered otherwise"
        )
    out.say(f"wrote {output}, for {features} features")
    return record
