"""``protonn-edge convert``: Convert models from and to the formats of other programs."""

from __future__ import annotations

import click
from click.core import ParameterSource

from protonn_edge.cli.command import OUTPUT, Output, command, options_of
from protonn_edge.cli.paths import check_there
from protonn_edge.cli.tables import READ_FLAGS
from protonn_edge.extensions.conversion.commands.convert_given import ConvertOptions
from protonn_edge.model.other_files import may_be_model, other_file
from protonn_edge.system.errors import InputError

_OPTIONS = {  # that apply to only one kind of SOURCE
    "a folder": ("reference normalization",),
    "an estimator": ("board_name", "classes", "budget", "bits", "fine_tune", "epochs"),
    "a model file that becomes a folder": ("reference layout", "reference features"),
}


@command(
    "convert", needs={READ_FLAGS: "--data"}, examples=("svm.skops --data train.csv -o model.npz",)
)
def convert_command(
    given: ConvertOptions = options_of(ConvertOptions), out: Output = OUTPUT
) -> None:
    """Convert SOURCE into a model, or a model into a folder or an ONNX file.

    SOURCE is a folder of the reference implementation, with the files W, B, Z and gamma as text or
    .npy; a fitted scikit-learn estimator, written by skops.io.dump (.skops; pickles are not read);
    a model saved by XGBoost (.json, .ubj) or LightGBM (.txt); or a network exported by PyTorch,
    Keras or skl2onnx (.onnx), or by TensorFlow Lite (.tflite). The ranges of the features and the
    names of the classes, or of the number to predict, are taken from the training data. If SOURCE
    is a model file (.npz), OUTPUT is a folder for the reference implementation, or an .onnx file
    with the integer model for other programs.
    """
    other = other_file(given.source)
    if other is not None:
        kind = "an estimator"
    elif given.source.is_dir():
        kind = "a folder"
    elif given.source.is_file() and not may_be_model(given.source):
        raise InputError(
            f"{given.source} is not a model that convert reads; name an estimator of skops (no "
            "pickle), a booster that XGBoost saved as JSON or UBJSON, or LightGBM as text, a "
            "network in ONNX or TensorFlow Lite, or a model of protonn-edge"
        )
    elif given.output.suffix == ".onnx":
        kind = "a model file that becomes ONNX"
    else:
        kind = "a model file that becomes a folder"
    _check_options(kind, given)
    for path in filter(None, (given.source, given.data)):
        check_there(path)
    from protonn_edge.extensions.conversion.commands import converting

    convert = {
        "an estimator": converting.from_estimator,
        "a folder": converting.from_folder,
        "a model file that becomes ONNX": converting.to_file,
        "a model file that becomes a folder": converting.to_folder,
    }
    out.finish(convert[kind](given, out))


def _check_options(kind: str, given: ConvertOptions) -> None:
    """Refuse an option that does not apply to this kind of SOURCE."""
    context = click.get_current_context()
    used = {name for name in context.params if not _is_default(context, name)}
    used |= {f"reference {name}" for name in given.reference}
    for other, names in _OPTIONS.items():
        for name in names:
            if other != kind and name in used:
                flag = "--" + name.removesuffix("_name").replace("_", "-")
                raise click.UsageError(
                    f"{flag} applies only to {other}, but SOURCE is {kind}; omit {flag}"
                )


def _is_default(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.DEFAULT
