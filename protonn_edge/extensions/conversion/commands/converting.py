"""The work of `convert`, for each kind of SOURCE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.command import Output
from protonn_edge.cli.paths import check_output
from protonn_edge.cli.trained import describe, device_answers, repeated_rows, sentence_of, unlearned
from protonn_edge.cli.training_data import division_of, of_data
from protonn_edge.data.naming import NO_CLASS, Notice, listed, quoted
from protonn_edge.data.options import SHOWN
from protonn_edge.data.points.dataset import Dataset, several_labels
from protonn_edge.data.points.values import ValueDataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.extensions.conversion import LAYOUTS, Features, Layout
from protonn_edge.extensions.conversion.affine import as_spelled
from protonn_edge.extensions.conversion.commands.convert_given import ConvertOptions
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.estimators import read_estimator
from protonn_edge.extensions.conversion.kept import Conversion
from protonn_edge.extensions.conversion.onward import to_onnx
from protonn_edge.extensions.conversion.protonn import reference as matrices
from protonn_edge.extensions.conversion.protonn.reference import reference_model_for
from protonn_edge.extensions.conversion.readers import LOADERS
from protonn_edge.extensions.conversion.reading import StoredClassifier, load_estimator
from protonn_edge.extensions.conversion.search import FittedEstimator
from protonn_edge.learn.calibration import with_accuracy_floor
from protonn_edge.learn.evaluation.figures import saturation_figure
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.model import Model
from protonn_edge.model.other_files import other_file
from protonn_edge.model.quantization import quantize
from protonn_edge.model.rule_kinds import answering_kind
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, counted, unneeded
from protonn_edge.system.figures import percent
from protonn_edge.system.files import write_atomically
from protonn_edge.system.schema import JsonObject

_BETTER_ORDER = 0.2  # share of the labels; answers by chance gain less by another order
_BETTER_LIMIT = 0.05  # share of the labels
_MOST_CLAMPED = 0.05  # share of the values; points of a network's training are hardly ever clamped
_SCALED = "check the labels and features, and whether they were scaled in training"


def from_folder(given: ConvertOptions, out: Output) -> JsonObject:
    """Convert a folder of the reference implementation into a model."""
    check_output(given.output)
    data = given.data or _training_data(given.source)
    dataset = load_dataset(data, given.table)
    out.notice(dataset.notices)
    dataset = replace(dataset, division=division_of(data, dataset, given.table))
    model = reference_model_for(dataset, given.source, given.reference.get("normalization", "none"))
    model = with_accuracy_floor(of_data(model, dataset), dataset.X_test, dataset.y_test)
    record, proportions = describe(model, dataset, out)
    save_model(model, given.output)
    out.say(sentence_of(record), *proportions, f"wrote {given.output}")
    return record


def from_estimator(given: ConvertOptions, out: Output) -> JsonObject:
    """Convert a fitted estimator into a model."""
    board, source, data = load_board(given.board_name), given.source, given.data
    check_output(given.output)
    if data is None:
        raise InputError(
            f"the conversion of {source} needs points; name the training data with --data"
        )
    estimator = _estimator(source, given.bits)
    fitted = read_estimator(estimator)  # before the data, so that gaps are refused at once
    dataset, fitted = _dataset(data, given, fitted)
    wanted = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
    if one_hot := fitted.features.one_hot:
        dataset = _of_texts(dataset, one_hot, given)
        wanted = fitted.feature_names
        fitted = replace(fitted, features=fitted.features.of_table(wanted))
    wanted, fitted = _as_named(wanted, fitted, dataset)
    dataset = dataset.matched(wanted, str(data))
    out.notice(dataset.notices)
    _check_features(given, fitted, dataset)
    dataset = replace(dataset, division=division_of(data, dataset, given.table))
    points = dataset
    if dataset.preparation is not None and (values := dataset.preparation.values):
        fitted = fitted.filling(values)
        shown = replace(given.table, missing=SHOWN)
        points = load_dataset(data, shown, target=fitted.answered.read_as)
        points = points.matched(wanted, str(data))
    labels, names = _labels(estimator, dataset, given)
    tested = len(dataset.y_test) > 0
    with out.status("converting"):
        conversion = from_sklearn(
            fitted,
            points.X_train,
            labels(dataset.y_train),
            evaluate_on=(points.X_test, labels(dataset.y_test)) if tested else None,
            board=board,
            classes=names,
            fine_tune=given.fine_tune,
            budget=given.budget,
            epochs=given.epochs,
        )
    if isinstance(estimator, StoredClassifier) and not isinstance(dataset, ValueDataset):
        out.notice([*_other_order(conversion, dataset, given), *_other_limit(conversion, dataset)])
    if (columns := conversion.model.record.get("columns")) is not None:
        dataset = dataset.of_columns(columns)
    model = of_data(conversion.model, dataset)
    out.notice([*repeated_rows(dataset), *_of_answers(model, dataset)])
    if model.classes == dataset.classes:
        model = with_accuracy_floor(model, dataset.X_test, dataset.y_test)
    save_model(model, given.output)
    out.say(str(conversion))
    features, X = quantize(model).quantizer, dataset.X_train
    flat = np.ptp(features.quantize(X), axis=0) == 0  # trees may clamp some values, but not all
    clamped = features.clamped(X)[flat if model.head.kind == "forest" else slice(None)]
    if count := int(clamped.sum()):
        out.say(f"  {saturation_figure(count, X.size)}")
    if (share := count / X.size) > _MOST_CLAMPED:
        text = f"{percent(share, 1)} of the values are beyond the range of the model; {_SCALED}"
        out.notice([Notice("clamped", text, warning=True)])
    out.say(f"wrote {given.output}")
    return conversion.to_json()


def _as_named(
    wanted: tuple[str, ...], fitted: FittedEstimator, dataset: Dataset
) -> tuple[tuple[str, ...], FittedEstimator]:
    """Return the columns that an estimator wants, and it, with the names of the data."""
    given = dataset.feature_names
    if not given:
        return wanted, fitted
    names = as_spelled(fitted.feature_names, given) if wanted else ()  # else those of the data
    return as_spelled(wanted, given), replace(fitted, feature_names=names)


def _check_features(given: ConvertOptions, fitted: FittedEstimator, dataset: Dataset) -> None:
    """Refuse data with another number of features than the estimator."""
    found, wanted = dataset.n_features, fitted.features.n_features
    if found != wanted:
        raise InputError(
            f"{given.data} has {counted(found, 'feature')}, but {given.source} takes {wanted:,}; "
            "use the columns of its training, in the same order, such as with --drop COLUMNS"
        )


def _dataset(
    data: Path, given: ConvertOptions, fitted: FittedEstimator
) -> tuple[Dataset, FittedEstimator]:
    """Return the data, and the estimator of its labels: of classes, or of numbers."""
    dataset = _read(data, given, fitted)
    if dataset.predicts == "labels":
        raise several_labels(data, "the estimator predicts one class")
    several = len(dataset.classes) > len(fitted.labels) and fitted.rule.plain
    if isinstance(dataset, ValueDataset) or several:
        fitted = fitted.for_numbers()
        dataset = _read(data, given, fitted) if several else dataset
    return dataset, fitted


def _read(data: Path, given: ConvertOptions, fitted: FittedEstimator) -> Dataset:
    """Return the data; if its gaps are refused, the advice fits an estimator that accepts gaps."""
    target = fitted.answered.read_as
    try:
        return load_dataset(data, given.table, target=target)
    except InputError:
        if not fitted.accepts_gaps or given.table.missing is not None:
            raise
        shown = load_dataset(data, replace(given.table, missing=SHOWN), target=target)
        kinds = {notice.kind for notice in shown.notices}
        if "missing" not in kinds or "unreadable" in kinds:
            raise
        raise InputError(
            f"{data} has gaps, to which {given.source} has answers that the device cannot give; "
            "leave these rows out with --missing drop or, if the trees were trained on "
            "filled gaps, fill them in the same way, such as with --missing median"
        ) from None


def _of_texts(
    dataset: Dataset, one_hot: Mapping[str, tuple[str, ...]], given: ConvertOptions
) -> Dataset:
    """Return the data with the texts that an estimator's encoder knows."""
    known = dataset.preparation
    missing = [name for name in one_hot if known is None or name not in known.one_hot]
    if missing or known is None:
        raise InputError(
            f"{given.source} makes features of the texts in column {listed(missing)}; add "
            f"--one-hot {','.join(missing)}"
        )
    return replace(dataset, preparation=replace(known, one_hot=one_hot))


def _of_answers(model: Model, dataset: Dataset) -> list[Notice]:
    """Return warnings if a converted model is no better than a constant, or misses a class."""
    kind = answering_kind(model.policy)
    remedy = f"unless it predicts a quantile, {_SCALED}"
    if kind is not None and (warnings := kind.unlearned(model, dataset, remedy)) is not None:
        return list(warnings)
    order = {name: index for index, name in enumerate(dataset.classes)}
    numbers = np.array([order.get(name, NO_CLASS) for name in model.classes])
    parts = dataset.X_train, dataset.X_test
    answers = [numbers[device_answers(model, X)] for X in parts]
    return unlearned(dataset, *answers, remedy=_SCALED)


def _estimator(source: Path, bits: int) -> Any:
    """Return the classifier in a file."""
    other = other_file(source)
    reader = None if other is None else other.reader
    if bits != 8 and reader != "network":
        raise unneeded(
            "--bits", f"applies only to networks (.onnx, .tflite), but SOURCE is {source}"
        )
    if reader in (None, "estimator"):
        return load_estimator(source)
    return LOADERS[reader](source, bits)


def _labels(
    estimator: Any, dataset: Dataset, given: ConvertOptions
) -> tuple[Callable[[Any], Array], tuple[str, ...] | None]:
    """Return what turns labels of the data into the estimator's, and names for these.

    A file of another library numbers its labels: in the order of --classes, or of the sorted
    classes.
    """
    classes = dataset.classes
    if isinstance(dataset, ValueDataset):
        if given.classes:
            raise unneeded("--classes", f"names classes, but {given.data} has numbers as labels")
        return dataset.as_targets, classes
    fitted = isinstance(estimator, StoredClassifier) and {*map(str, estimator.classes_)}
    if not fitted or (not given.classes and fitted.issuperset(classes)):
        if given.classes:
            raise unneeded(
                "--classes",
                f"is for files with numbered classes, but the classes of {given.source} have names",
            )
        return np.array(classes).__getitem__, None
    names = given.classes or classes
    if len(classes) != len(fitted):
        raise InputError(
            f"{estimator.name} has {len(fitted):,} classes, but {given.data} has {len(classes):,}; "
            "use data with exactly the classes of the estimator"
        )
    if sorted(names) != sorted(classes):
        raise InputError(
            f"--classes is {listed(names)}, but the classes of {given.data} are {listed(classes)}; "
            f"list each class of {given.data} once with --classes"
        )
    return estimator.classes_[[names.index(each) for each in classes]].__getitem__, names


def _other_order(
    conversion: Conversion, dataset: Dataset, given: ConvertOptions
) -> Iterator[Notice]:
    """Yield a warning if numbered classes fit the data far better in another order of names."""
    names = conversion.model.classes
    if given.classes or len(names) != dataset.n_classes:
        return
    answers, y = _answers_and_labels(conversion.source, dataset, names)
    counts = np.zeros((len(names), len(names)))
    np.add.at(counts, (answers, y), 1 / len(y))
    order = linear_sum_assignment(counts, maximize=True)[1]
    now, other = counts.trace(), counts[np.arange(len(names)), order].sum()
    if other > now + _BETTER_ORDER:
        order_of_names = ",".join(names[place] for place in order)
        text = (
            f"the estimator's answers match {percent(now, 1)} of the labels if the classes are "
            f"sorted by name, but {percent(other, 1)} in another order; if the estimator was "
            f"trained with that order, use --classes '{order_of_names}'"
        )
        yield Notice("order_of_classes", text, warning=True)


def _other_limit(conversion: Conversion, dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning if the only output separates two classes far better at 0.5 than at 0."""
    source, names = conversion.source, conversion.model.classes
    if not source.rule.plain:
        return
    outputs, y = _answers_and_labels(source.for_numbers(), dataset, names)
    now, other = (float(np.mean((outputs > limit) == y)) for limit in (0.0, 0.5))
    if other > now + _BETTER_LIMIT:
        text = (
            f"the only output of the network means {quoted(names[1])} above 0, as a logit, which "
            f"is right for {percent(now, 1)} of the points, but above 0.5 for {percent(other, 1)}; "
            "if it was trained to be 0 or 1, subtract 0.5 from the last bias, and export it again"
        )
        yield Notice("limit_of_classes", text, warning=True)


def _answers_and_labels(
    source: FittedEstimator, dataset: Dataset, names: tuple[str, ...]
) -> tuple[Any, NDArray[np.int64]]:
    """Return an estimator's answers to the training points, and their labels as its classes."""
    y = np.array([names.index(each) for each in dataset.classes])[dataset.y_train]
    return source.answers(source.features.taken(dataset.X_train, "X")), y


def _training_data(folder: Path) -> Path:
    """Return the folder with train.txt: results are in DATA/results/SETTINGS."""
    for candidate in (folder, *folder.resolve().parents[1:2]):
        if (candidate / "train.txt").is_file():
            return candidate
    raise InputError(
        f"{folder} contains only matrices, but a model needs the ranges of the features and the "
        "names of the classes; name the training data with --data"
    )


def to_folder(given: ConvertOptions, out: Output) -> JsonObject:
    """Convert a model file into a folder for the reference implementation."""
    output, data = given.output, given.data
    features = cast("Features", given.reference.get("features", "raw"))
    layout = cast("Layout", given.reference.get("layout", LAYOUTS[0]))
    model = load_model(given.source)
    if output.suffix == ".npz":
        raise InputError(
            f"a model file can be converted only into a folder or an .onnx file, but -o is "
            f"{output.name!r}; choose another name with -o"
        )
    reference, cutoff = matrices.to_reference(model, features), matrices.cutoff_of(model)
    record: JsonObject = {
        "layout": layout,
        "features": features,
        "paper_bytes": reference.paper_bytes,
        "n": 0,
        "same_answers": None,
    }
    if data is not None:
        dataset = load_dataset(data, given.table)
        dataset = dataset.matched(model.feature_names, str(data))
        out.notice(dataset.notices)
        points = dataset.X_test if dataset.X_test.shape[0] else dataset.X_train
        X = points
        record |= {
            "n": len(X),
            "same_answers": matrices.same_answers(model, reference, X, features),
        }
    matrices.write_reference_model(reference, output, layout)
    if record["same_answers"] is not None:
        out.say(
            f"{output} gives the model's answers for {percent(record['same_answers'])} of "
            f"{counted(record['n'], 'point')}"
        )
    if cutoff > 0:
        out.say(
            f"the model ignores RBF values below {cutoff:.3g}, but the reference implementation "
            "does not, so some answers may differ"
        )
    for other in model.policy.other_answers:
        out.say(
            "the matrices have no thresholds, so the reference implementation never answers "
            f'"{other.name}"'
        )
    out.say(f"wrote {output}, which expects {features} features")
    return record


def to_file(given: ConvertOptions, out: Output) -> JsonObject:
    """Convert a model file into ONNX."""
    if given.data is not None:
        raise unneeded("--data", "has no effect, because ONNX is written without points")
    content = to_onnx(load_model(given.source))
    write_atomically(given.output, content)
    out.say(f"wrote {given.output}, {len(content):,} B")
    return {"bytes": len(content)}
