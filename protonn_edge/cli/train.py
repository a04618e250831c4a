"""``protonn-edge train``: learn a model and write it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from protonn_edge.cli.command import Command, FiniteRange, Output, json_option
from protonn_edge.datasets import Dataset, holdout, load_dataset
from protonn_edge.errors import InputError
from protonn_edge.model import ProtoNNModel, load_model, save_model
from protonn_edge.quantization import check_counts, quantize
from protonn_edge.reduction import reduction_for
from protonn_edge.report.accuracy import share_right
from protonn_edge.training import EpochReport, ProtoNNClassifier

_F = TypeVar("_F", bound=Callable[..., Any])

_SHARE = FiniteRange(0, 1, min_open=True)
_COUNT = click.IntRange(1)
_POSITIVE = FiniteRange(0, min_open=True)
_DEFAULTS: dict[str, Any] = ProtoNNClassifier().get_params()


class _ImageShape(click.ParamType[tuple[int, int]]):
    """Height and width of an image, such as 16x16."""

    name = "HxW"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        height, _, width = str(value).partition("x")
        if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
            self.fail(f"{value!r} is not a height and a width, such as 16x16", param, ctx)
        return int(height), int(width)


def _setting(
    flag: str, parameter: str, kind: click.ParamType[Any], text: str
) -> Callable[[_F], _F]:
    """Return the option for a parameter of the estimator, with the estimator's default."""
    default = _DEFAULTS[parameter]
    # A number may have a word for a default, such as "auto", which the option itself cannot take.
    word = isinstance(default, str) and not isinstance(kind, click.Choice)
    shown = {"show_default": default} if word else {"default": default, "show_default": True}
    return click.option(flag, parameter, type=kind, help=text, **shown)


@click.command("train", cls=Command)
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="The model file (.npz)."
)
@_setting("--projection-dim", "n_projections", _COUNT, "d, outputs of the projection.")
@click.option(
    "--prototypes",
    "n_prototypes",
    type=_COUNT,
    default=40,
    show_default=True,
    help="m, shared among the classes.",
)
@_setting("--lambda-w", "sparsity_projection", _SHARE, "Non-zero share of W.")
@_setting("--lambda-b", "sparsity_prototypes", _SHARE, "Non-zero share of B.")
@_setting("--lambda-z", "sparsity_labels", _SHARE, "Non-zero share of Z.")
@_setting(
    "--optimizer",
    "optimizer",
    click.Choice(["joint", "alternating"]),
    "All three matrices together, or in turn as in the paper.",
)
@_setting("--loss", "loss", click.Choice(["cross_entropy", "squared_error"]), "What is minimized.")
@_setting("--gamma-numerator", "gamma_numerator", _POSITIVE, "Gamma times the median distance.")
@_setting("--gamma", "gamma", _POSITIVE, "The kernel's width, in place of the median's.")
@_setting(
    "--init-projection",
    "init_projection",
    click.Choice(["lda", "gaussian", "pca", "identity"]),
    "Where W starts; identity is no projection, whatever d is.",
)
@_setting(
    "--init-prototypes",
    "init_prototypes",
    click.Choice(["per_class", "kmeans", "sample"]),
    "Where B and Z start.",
)
@click.option(
    "--start-from",
    type=click.Path(path_type=Path),
    help="A model file to go on from; its sizes and normalization hold.",
)
@_setting(
    "--normalization",
    "normalization",
    click.Choice(["standard", "minmax", "none"]),
    "What is done to the features; it costs the device nothing.",
)
@_setting("--epochs", "epochs", _COUNT, "Joint: passes over the training points.")
@_setting("--iterations", "iterations", _COUNT, "Alternating: turns of each matrix.")
@_setting("--pass-epochs", "pass_epochs", _COUNT, "Alternating: epochs of a turn.")
@_setting(
    "--step-sizes",
    "step_sizes",
    click.Choice(["inverse", "inverse_sqrt"]),
    "Alternating: steps of eta/t, or eta/sqrt(t), accelerated.",
)
@_setting("--batch-size", "batch_size", _COUNT, "Points a step.")
@_setting("--learning-rate", "learning_rate", _POSITIVE, "Joint: the largest step.")
@_setting(
    "--noise",
    "input_noise",
    FiniteRange(0),
    "Deviation of noise added to normalized features.",
)
@_setting(
    "--quantization-aware/--no-quantization-aware",
    "quantization_aware",
    click.BOOL,
    "Joint: train the second half on what the integers compute.",
)
@_setting(
    "--dead-zone",
    "dead_zone",
    FiniteRange(0, 1, max_open=True),
    "Joint: share of a feature's range, beside its most frequent value, that reads as that value.",
)
@_setting("--class-weight", "class_weight", click.Choice(["balanced"]), "Every class counts alike.")
@_setting("--image-shape", "image_shape", _ImageShape(), "The features are the pixels of images.")
@_setting(
    "--reduce",
    "reduced_shape",
    _ImageShape(),
    "Project this many area averages, which the device makes of the pixels.",
)
@_setting("--crop", "cropped_shape", _ImageShape(), "Average this much, in the image's middle.")
@_setting(
    "--augment/--no-augment",
    "augment",
    click.BOOL,
    "Joint: shift, turn and scale the images a little at random.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option(
    "--holdout",
    "share",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Hold this share of the training points out and report on it instead of the test part.",
)
@json_option
def train_command(
    data: Path,
    output: Path,
    seed: int,
    share: float | None,
    start_from: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Learn a model from DATA and write it.

    DATA is an .npz, .csv, .tsv or libsvm file, or a folder with train.txt and test.txt.
    """
    _check_output(output)
    out = Output(as_json)
    dataset = load_dataset(data)
    if share is not None:
        dataset = holdout(dataset, share, seed)
    _check_sizes(dataset, settings)
    given = {name: value for name, value in settings.items() if value is not None}
    if start_from is not None:
        given["initial_model"] = load_model(start_from)
    model = train(dataset, out, seed=seed, **given)
    save_model(model, output)
    record = describe(model, dataset)
    out.say(_sentence(record), f"wrote {output}")
    out.finish(record)


def train(dataset: Dataset, out: Output, *, seed: int, **settings: Any) -> ProtoNNModel:
    """Train an estimator with these settings under a progress bar, and return its model."""
    with out.progress("training", _epochs(_DEFAULTS | settings)) as bar:

        def moved_on(report: EpochReport) -> None:
            note = f"objective {report.objective:.4f}, accuracy {100 * report.accuracy:.2f} %"
            turn = f"{report.parameter}: " if report.parameter else ""
            bar.move_to(report.epoch, turn + note)

        classifier = ProtoNNClassifier(random_state=seed, callback=moved_on, **settings)
        classifier.fit(dataset.X_train, dataset.y_train)
    return classifier.to_model(classes=dataset.classes, feature_names=dataset.feature_names)


def _epochs(settings: dict[str, Any]) -> int:
    """Return how many epochs the last report will have counted."""
    if settings["optimizer"] == "alternating":
        return int(3 * settings["iterations"] * settings["pass_epochs"])
    return int(settings["epochs"])


def describe(model: ProtoNNModel, dataset: Dataset) -> dict[str, Any]:
    """Return the JSON object of a trained model; accuracies are 0 to 1, or None."""
    integer_model = quantize(model)
    X, y = dataset.X_test, dataset.y_test
    in_float = in_integers = None
    if len(y) > 0:
        in_float = share_right(model.predict(X), y)
        in_integers = share_right(integer_model.predict(integer_model.quantize(X)), y)
    return {
        "train_accuracy": share_right(model.predict(dataset.X_train), dataset.y_train),
        "float_accuracy": in_float,
        "accuracy": in_integers,
        "n": len(y),
        "model_bytes": integer_model.model_bytes,
        "model_sha256": integer_model.model_sha256,
    }


def _sentence(record: dict[str, Any]) -> str:
    sizes = f"{record['model_bytes']:,} B of int8 parameters"
    trained = f"accuracy {100 * record['train_accuracy']:.2f} % in training"
    if not record["n"]:
        return f"{trained}, {sizes}; the data has no test part"
    return (
        f"{trained}; on {record['n']:,} test points {100 * record['float_accuracy']:.2f} % in "
        f"float, {100 * record['accuracy']:.2f} % in integers; {sizes}"
    )


def _check_output(path: Path) -> None:
    """Refuse a name that cannot be written before minutes are spent on training."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; name the model file, for example {path / 'model.npz'}"
        )
    if path.suffix != ".npz":
        raise InputError(f"the model file is called {path.name!r}; its name must end in .npz")
    there = next(parent for parent in path.absolute().parents if parent.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(
            f"cannot write {path}: {there} is no folder to write to; choose another -o"
        )


def _check_sizes(dataset: Dataset, settings: dict[str, Any]) -> None:
    """Refuse what would only fail after the training, or for want of memory."""
    prototypes, points = settings["n_prototypes"], len(dataset.y_train)
    if prototypes > points:
        raise InputError(
            f"--prototypes is {prototypes:,}, the data has {points:,} points to train with; try "
            "fewer prototypes"
        )
    features = dataset.n_features
    reduction = reduction_for(
        settings["image_shape"], settings["reduced_shape"], settings["cropped_shape"]
    )
    inputs = features if reduction is None else reduction.n_outputs
    projections = min(settings["n_projections"], inputs)
    if settings["init_projection"] == "identity":
        projections = inputs
    check_counts(features, projections, prototypes, dataset.n_classes)
