"""``protonn-edge convert``: convert models from and to other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, get_args

import click
import numpy as np
from click.core import ParameterSource

from protonn_edge.boards import Board, load_board
from protonn_edge.chain.file import load_model, save_model
from protonn_edge.chain.statistics import NORMALIZER_KINDS
from protonn_edge.cli.command import Command, Output, board_option, json_option
from protonn_edge.cli.paths import MODEL, OutputFile, check_output
from protonn_edge.cli.quantities import Bytes
from protonn_edge.cli.tables import table_options
from protonn_edge.cli.trained import describe, sentence_of
from protonn_edge.cli.training import reference_model_for
from protonn_edge.conversion import Features, from_sklearn, same_answers, to_reference
from protonn_edge.conversion.converting import EPOCHS
from protonn_edge.conversion.reading import SUFFIX, load_estimator
from protonn_edge.conversion.reference import LAYOUTS, Layout, write_reference_model
from protonn_edge.datasets import MultiLabelDataset, TableOptions, load_dataset
from protonn_edge.datasets.dataset import dense_features
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import protonn_head
from protonn_edge.training.accuracy_floor import with_accuracy_floor

_PATH = click.Path(path_type=Path)
_OPTIONS = {  # that apply to only one kind of SOURCE
    "a folder": ("normalization",),
    "an estimator": ("board_name", "budget", "epochs", "seed"),
    "a model file": ("layout", "features"),
}


@click.command("convert", cls=Command)
@click.argument("source", type=_PATH)
@click.option(
    "-o", "--output", type=OutputFile(MODEL), required=True, help="A model file, or a folder."
)
@click.option(
    "--data",
    type=_PATH,
    help="The training data.  [default: train.txt in the folder, or two above it]  From a model: "
    "points to compare the answers on.",
)
@click.option(
    "--normalization",
    type=click.Choice(NORMALIZER_KINDS),
    default="none",
    show_default=True,
    help="From a folder: how the features were normalized before training, or by its option -N.",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default=LAYOUTS[0],
    show_default=True,
    help="To a folder: the layout of the C++ program, or of the Python programs.",
)
@click.option(
    "--features",
    type=click.Choice(get_args(Features)),
    default="raw",
    show_default=True,
    help="To a folder: which features its W expects; raw folds the model's normalization into W "
    "and B.",
)
@board_option
@click.option("--budget", type=Bytes(), help="From .skops: maximum size of the int8 parameters.")
@click.option(
    "--epochs",
    type=click.IntRange(0, 1_000_000),
    default=EPOCHS,
    show_default=True,
    help="From .skops: epochs of training on the estimator's answers, if the conversion is not "
    "exact.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@table_options
@json_option
def convert_command(
    source: Path,
    output: Path,
    data: Path | None,
    normalization: str,
    layout: Layout,
    features: Features,
    board_name: str,
    budget: int | None,
    epochs: int,
    seed: int,
    table: TableOptions,
    as_json: bool,
) -> None:
    """Convert SOURCE into a model, or a model into a folder.

    SOURCE is a folder of the reference implementation, with the files W, B, Z and gamma as text or
    .npy; or a fitted scikit-learn estimator, written by skops.io.dump (.skops; pickles are not
    read). The ranges of the features and the names of the classes, which neither has, are taken
    from the training data. Or SOURCE is a model file (.npz), and OUTPUT a folder for the reference
    implementation.
    """
    job = _Job(source, output, data, table, Output(as_json))
    if source.is_dir():
        _check_options("a folder")
        record = _from_folder(job, normalization)
    elif source.suffix == SUFFIX:
        _check_options("an estimator")
        settings = {"budget": budget, "epochs": epochs, "random_state": seed}
        record = _from_estimator(job, load_board(board_name), settings)
    else:
        _check_options("a model file")
        record = _to_folder(job, layout, features)
    job.out.finish(record)


class _Job(NamedTuple):
    source: Path
    output: Path
    data: Path | None
    table: TableOptions
    out: Output


def _check_options(kind: str) -> None:
    """Refuse an option that does not apply to this kind of SOURCE."""
    context = click.get_current_context()
    for other, names in _OPTIONS.items():
        for name in names:
            given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
            if other != kind and given:
                flag = "--" + name.removesuffix("_name")
                raise click.UsageError(f"{flag} is for {other}, and SOURCE is {kind}")


def _from_folder(job: _Job, normalization: str) -> dict[str, Any]:
    folder, output, data, table, out = job
    check_output(output)
    dataset = load_dataset(data or _training_data(folder), table)
    out.notice(dataset.notices)
    model = reference_model_for(dataset, folder, normalization)
    model = with_accuracy_floor(model, dataset.X_test, dataset.y_test)
    record = describe(model, dataset, out)
    save_model(model, output)
    out.say(sentence_of(record), f"wrote {output}")
    return record


def _from_estimator(job: _Job, board: Board, settings: dict[str, Any]) -> dict[str, Any]:
    source, output, data, table, out = job
    check_output(output)
    if data is None:
        raise InputError(
            f"{source} contains no points, which the conversion needs; name the training data with "
            "--data"
        )
    dataset = load_dataset(data, table)
    if isinstance(dataset, MultiLabelDataset):
        raise InputError(
            f"{data} has sets of labels, but the estimator predicts one class; use data with one "
            "label per point"
        )
    estimator = load_estimator(source)
    columns = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
    dataset = dataset.matched(columns, str(data))
    out.notice(dataset.notices)
    names = np.array(dataset.classes)
    tested = len(dataset.y_test) > 0
    with out.status("converting"):
        found = from_sklearn(
            estimator,
            dataset.X_train,
            names[dataset.y_train],
            evaluate_on=(dataset.X_test, names[dataset.y_test]) if tested else None,
            board=board,
            **settings,
        )
    model = found.model
    if model.classes == dataset.classes:
        model = with_accuracy_floor(model, dataset.X_test, dataset.y_test)
    save_model(model, output)
    out.say(str(found), f"wrote {output}")
    return found.to_json()


def _training_data(folder: Path) -> Path:
    """Return the folder with train.txt: results are in DATA/results/SETTINGS."""
    for candidate in (folder, *folder.resolve().parents[1:2]):
        if (candidate / "train.txt").is_file():
            return candidate
    raise InputError(
        f"{folder} has only matrices, but a model needs the ranges of the features and the names "
        "of the classes; name the training data with --data"
    )


def _to_folder(job: _Job, layout: Layout, features: Features) -> dict[str, Any]:
    source, output, data, table, out = job
    if output.suffix == ".npz":
        raise InputError(
            f"{source} is converted into a folder, but the output is called {output.name!r}; name "
            "a folder, or give a folder to convert"
        )
    model = load_model(source)
    cutoff = protonn_head(model, "the reference implementation").cutoff
    reference = to_reference(model, features)
    record: dict[str, Any] = {
        "layout": layout,
        "features": features,
        "paper_bytes": reference.paper_bytes,
        "n": 0,
        "same_answers": None,
    }
    if data is not None:
        dataset = load_dataset(data, table)
        dataset = dataset.matched(model.feature_names, str(data))
        out.notice(dataset.notices)
        points = dataset.X_test if dataset.X_test.shape[0] else dataset.X_train
        X = dense_features(points, str(data))
        record |= {"n": len(X), "same_answers": same_answers(model, reference, X, features)}
    write_reference_model(reference, output, layout)
    if record["same_answers"] is not None:
        out.say(
            f"of {record['n']:,} points, {100 * record['same_answers']:.2f} % get the same answer"
        )
    if cutoff > 0:
        out.say(
            f"RBF values below {cutoff:.3g} are ignored by this model but not by the "
            "reference implementation: its answers may differ for some points"
        )
    if model.rejection is not None:
        out.say(
            'the matrices have no thresholds: the reference implementation never answers "unknown"'
        )
    out.say(f"wrote {output}, for {features} features")
    return record
