"""Convert between models of this package and matrices of the reference implementation.

The reference implementation only has W, B, Z and gamma. A model of this package also has the
normalization and the ranges of its features, and the names of its classes. Reading takes these from
the training data; writing folds them into the matrices, or omits them.

The authors' C++ program writes a folder of four text files, ``W``, ``B``, ``Z`` and ``gamma``, with
numbers separated by tabs, one row per line, W of shape (d, D), B (d, m), Z (L, m). Their Python
programs save ``W.npy``, ``B.npy``, ``Z.npy`` and ``gamma.npy``, where W has the shape (D, d). All
formats represent ``sum_j z_j exp(-gamma^2 ||b_j - W x||^2)``. A folder may come from an untrusted
source, so pickles are refused, and sizes are checked first. The authors' programs can read the
written files to continue training (option ``-P 1``) or to predict.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.files.archive import read_array
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.conversion import Features, Layout
from protonn_edge.kinds.protonn.head import ProtoNNHead, protonn_head
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.normalization import normalizer_from
from protonn_edge.learn.points import Float32, Points
from protonn_edge.learn.training_set import check_sizes
from protonn_edge.model.head import paper_bytes
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.model import Model, raw_ends, with_units_of
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_kind
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.files import MODEL_LIMIT_BYTES, as_bytes, check_file, write_together

_CONSTANT_DEVIATION = 1e-6
_MEASURED_POINTS = 5_000
_FOLDING_TOLERANCE = 1e-3  # largest change of an RBF's exponent
_MATRICES = ("W", "B", "Z")
_NAMES = (*_MATRICES, "gamma")
_NPY = ".npy"


def from_reference(
    reference: ReferenceModel,
    points: Float32,
    normalization: str,
    classes: Sequence[str],
    *,
    feature_names: Sequence[str] = (),
    targets: Float32 | None = None,
) -> Model:
    """Make a model of another program's matrices, with the same float scores.

    All RBF values count, even the smallest. The rows of Z follow the order of the classes.

    - `points` (n, D): raw training points, for the normalization and the statistics.
    - `normalization`: the normalization before, or in, the other program. "standard" is ``(x -
      mean) / deviation`` as in the authors' examples; deviations below 1e-6 count as 1.
    - `targets` (n, L): sets of labels of `points`, if they have such, for the policy.
    """
    sizes = reference.projection.shape[1], len(reference.labels)
    check_sizes(sizes, int(points.shape[1]), len(classes))
    inputs = InputStatistics.of(points)
    model = Model(
        head=ProtoNNHead(**vars(reference)),
        normalizer=_normalizer(normalization, inputs),
        inputs=inputs,
        classes=tuple(classes),
        feature_names=tuple(feature_names),
        record={"trainer": "reference implementation", "n_train": int(points.shape[0])},
    )
    model = with_units_of(model, points)
    if targets is None:
        return model
    labels = ClassLabels().of(targets)
    some = Points(points[:_MEASURED_POINTS], targets[:_MEASURED_POINTS])
    return labels.measured(model, some, seed=0)


def reference_model_for(dataset: Dataset, folder: Path, normalization: str) -> Model:
    """Return the model of the reference's files in a folder, for this data."""
    targets: Array | None = None if dataset.predicts == "class" else dataset.y_train
    return from_reference(
        read_reference_model(folder),
        dataset.X_train,
        normalization,
        dataset.classes,
        feature_names=dataset.feature_names,
        targets=targets,
    )


def to_reference(model: Model, features: Features = "raw") -> ReferenceModel:
    """Return the matrices of a ProtoNN for the reference implementation.

    Its programs use every RBF value and have no `ProtoNNHead.cutoff`, so a model with a cutoff may
    classify some points differently there. For "raw" features, normalization and average pooling
    are folded into W and B; for "normalized" features, inputs must be normalized.

    Raises `InputError` if the model's preprocessing is not linear, because it clips features,
    deskews images or divides points by their norms, or if float32 is too coarse for raw features.
    """
    head = protonn_head(model, "the reference implementation")
    made = model.features
    kinds = [] if made is None else [stage.kind for stage in made.stages]
    does = "computes features"
    remedy = "convert a model that was trained on the computed features"
    _check(kinds not in ([], ["average_pooling"]), does, remedy)
    _check(model.clipped, "clips outliers", "train it without clipping")
    if features == "normalized":
        _check(made is not None, does, "choose the features 'raw'")
        return ReferenceModel(head.projection, head.prototypes, head.labels, head.gamma)
    unit = model.normalizer.kind == "l2"
    _check(unit, "scales points to unit norm", "choose the features 'normalized'")
    W = head.projection.astype(np.float64) * model.normalizer.scale
    B = head.prototypes + (W @ model.normalizer.offset)[:, None]
    if made is not None:
        scale = made.points.scale
        pixels = BYTE_MAXIMUM * np.eye(made.points.n_features, dtype=np.uint8)
        B += (W.sum(axis=1) * (scale.zero / scale.step))[:, None]
        W = W @ run_through(made.stages, pixels).T / BYTE_MAXIMUM / scale.step
    with np.errstate(over="ignore"):
        folded = ReferenceModel(W.astype(np.float32), B.astype(np.float32), head.labels, head.gamma)
    _check_folded(folded, W, B, model)
    return folded


def cutoff_of(model: Model) -> float:
    """Return the RBF value below which a ProtoNN ignores prototypes; the other programs do not."""
    return protonn_head(model, "the reference implementation").cutoff


def _check(refused: bool, what: str, remedy: str) -> None:
    if refused:
        raise InvalidValue("the model", f"it {what}, which a matrix cannot do", remedy)


def _check_folded(
    folded: ReferenceModel, W: NDArray[np.float64], B: NDArray[np.float64], model: Model
) -> None:
    """Refuse matrices if rounding them to float32 would noticeably change the RBF."""
    lower, upper = raw_ends(model)
    extent = np.resize(np.maximum(np.abs(lower), np.abs(upper)), model.n_features)
    moved = np.abs(folded.projection - W) @ extent + np.abs(folded.prototypes - B).max(axis=1)
    widths = folded.gamma * float(np.sqrt(np.square(moved).sum()))
    if not widths <= _FOLDING_TOLERANCE:  # NaN is too much, too
        raise InputError(
            "the features' offsets are too large for float32 matrices that take raw features: "
            f"distances would be wrong by {widths:.2g} RBF widths, but the limit is "
            f"{_FOLDING_TOLERANCE:g}; choose the features 'normalized'"
        )


def _normalizer(kind: str, inputs: InputStatistics) -> Normalizer:
    if kind != "standard":
        return normalizer_from(kind, inputs)
    constant = inputs.deviation < _CONSTANT_DEVIATION
    return Normalizer(kind, inputs.mean, 1.0 / np.where(constant, 1.0, inputs.deviation))


def same_answers(
    model: Model, reference: ReferenceModel, X: Float32, features: Features = "raw"
) -> float:
    """Return the share of raw points X (n, D) that a model and its matrices classify alike."""
    inputs = X if features == "raw" else model.normalized(X)
    there = from_reference(reference, inputs.astype(np.float32), "none", model.classes)
    alike = model.scores(X).argmax(axis=1) == there.scores(inputs).argmax(axis=1)
    return float(np.mean(alike))


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """The contents of a folder."""

    projection: Float32  # (d, D): W
    prototypes: Float32  # (d, m): B
    labels: Float32  # (L, m): Z
    gamma: float  # above 0

    @property
    def paper_bytes(self) -> int:
        """Size of the matrices by the ProtoNN paper's accounting."""
        return paper_bytes((self.projection, self.prototypes, self.labels))


def read_reference_model(folder: Path) -> ReferenceModel:
    """Read the four files of a folder, text or .npy, if their shapes match."""
    binary = (folder / f"W{_NPY}").exists()
    if folder.is_dir() and not binary and not (folder / "W").exists():
        raise InvalidValue(
            folder,
            f"neither W nor W{_NPY}, so it is no model of ProtoNN's reference implementation",
            "name a folder that is, or the file of another model",
        )
    read = _read_npy if binary else _read_text
    suffix = _NPY if binary else ""
    W, B, Z = (_matrix(read(folder / f"{name}{suffix}"), folder / name) for name in _MATRICES)
    if binary and W.shape[1] == len(B):  # the Python programs compute X W
        W = np.ascontiguousarray(W.T)
    for name, matrix, axis, size, other in (
        ("B", B, 0, len(W), "rows of W"),
        ("Z", Z, 1, B.shape[1], "columns of B"),
    ):
        found = f"{matrix.shape[0]:,} x {matrix.shape[1]:,}"
        check(matrix.shape[axis] == size, f"{folder}: {name}", found, f"the {size:,} {other}")
    gamma = read(folder / f"gamma{suffix}")
    usable = gamma.size == 1 and np.isfinite(gamma).all() and float(gamma.ravel()[0]) > 0
    check(bool(usable), str(folder / f"gamma{suffix}"), gamma.ravel()[:3], "one number above 0")
    return ReferenceModel(W, B, Z, float(gamma.ravel()[0]))


def write_reference_model(model: ReferenceModel, folder: Path, layout: Layout = "text") -> None:
    """Write the four files of a model into a folder, without changing other files there.

    Reading the files gives the same float32 values. The layout is "text", as in the C++ program, or
    "npy", as in the Python programs, with W as (D, d).

    Raises `InputError` if the folder cannot be written, or contains a model in the other layout,
    which a reader could mistake for this one.
    """
    other = "" if layout == "npy" else _NPY
    paths = (folder / f"{name}{other}" for name in _NAMES)
    stale = next((path for path in paths if path.exists()), None)
    if stale is not None:
        raise InvalidValue(
            stale,
            "it belongs to a model in the other layout",
            "remove that model's files, or choose another folder",
        )
    if folder.exists() and not folder.is_dir():
        raise InvalidValue(folder, "not a folder", "choose another name")
    W = model.projection if layout == "text" else model.projection.T
    arrays = (W, model.prototypes, model.labels, np.float64(model.gamma))
    contents: dict[str, bytes | str] = {}
    for name, array in zip(_NAMES, arrays, strict=True):
        if layout == "npy":
            contents[f"{name}{_NPY}"] = _npy_bytes(np.asarray(array))
        else:
            contents[name] = _text_of(np.asarray(array))
    _check_ours(folder, contents, layout)
    write_together(folder, contents)


def _check_ours(folder: Path, contents: Mapping[str, bytes | str], layout: Layout) -> None:
    """Refuse to overwrite files unless they are a model's, or those of a run that was killed."""
    there = [name for name in contents if (folder / name).exists()]
    if all((folder / name).read_bytes() == as_bytes(contents[name]) for name in there):
        return
    try:
        for name in contents:
            (_read_npy if layout == "npy" else _read_text)(folder / name)
    except InputError as error:
        raise InvalidValue(
            folder / there[0],
            f"not part of a complete model, so it is not overwritten ({error})",
            "choose another folder",
        ) from error


def _npy_bytes(array: Array) -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array(content, np.asarray(array, order="C"), allow_pickle=False)
    return content.getvalue()


def _text_of(matrix: Array) -> str:
    """Return one row per line; each number has the fewest digits that preserve it."""
    digits = ".9g" if matrix.dtype == np.float32 else ".17g"
    rows = matrix.reshape(-1, matrix.shape[-1] if matrix.ndim else 1).tolist()
    return "".join("\t".join(format(x, digits) for x in row) + "\n" for row in rows)


def _matrix(array: Array, path: Path) -> Float32:
    check(array.ndim == 2 and 0 not in array.shape, str(path), array.shape, "a matrix")
    with np.errstate(over="ignore"):
        matrix = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(matrix).all():
        row, column = (int(index) for index in np.argwhere(~np.isfinite(matrix))[0])
        raise InvalidValue(f"{path}, row {row:,}, column {column:,}", "NaN or infinity")
    return matrix


def _read_text(path: Path) -> NDArray[np.float64]:
    check_file(path, limit_bytes=MODEL_LIMIT_BYTES)
    rows: list[list[float]] = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.split()
            if not cells:
                continue
            try:
                rows.append([float(cell) for cell in cells])
            except ValueError:
                raise InvalidValue(f"{path}:{number}", "a cell that is not a number") from None
            check(
                len(cells) == len(rows[0]),
                f"{path}:{number}",
                len(cells),
                f"{len(rows[0]):,} numbers",
            )
    return np.array(rows, dtype=np.float64)


def _read_npy(path: Path) -> Array:
    """Read an .npy file of numbers; numpy itself would allocate any size in a header."""
    check_file(path, limit_bytes=MODEL_LIMIT_BYTES)
    with path.open("rb") as file:
        array = read_array(file, path.stat().st_size, str(path))
    check_kind(str(path), array, "fiu", array.ndim)
    return array
