"""Read a fitted estimator: its attributes, with sizes and numbers checked, or a skops file.

An estimator may have been modified, or come from an untrusted file. Reading a joblib or pickle file
can run arbitrary code, so these files are refused. A skops file contains arrays and a schema
instead, and skops creates only objects of trusted types: here, the types of scikit-learn, NumPy and
SciPy that it lists as harmless. Sizes are checked before skops reads a file.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.tree._tree import NODE_DTYPE
from sklearn.utils.validation import check_is_fitted

from protonn_edge.data.files.archive import ArrayArchive
from protonn_edge.learn.constraints import check_parameters
from protonn_edge.learn.learner import Learner
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range
from protonn_edge.system.errors import InputError, InvalidValue, shortened
from protonn_edge.system.lazy import require

LIMIT_BYTES = 2**30
LARGEST = 1e30
"""Largest magnitude of an estimator's numbers, so that sums of products fit floats."""

Shape = tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class StoredClassifier:
    """A classifier of another library; names that end with _ follow scikit-learn."""

    name: str  # the name of the class or the file
    rule: Any  # a `Rule` for D features
    n_features_in_: int
    feature_names_in_: Array  # (D,): texts; empty if there are none
    classes_: Array  # (L,): its labels


_LIMIT_BYTES = 256 * 2**20
_MOST_MEMBERS = 50_000  # five for each tree of a forest
_SCHEMA = "schema.json"
# Arrays of nodes: skops checks their shapes; `trees` checks their links before following them.
# The type of an array, which an imputer has: `_check_members` requires that it is one's.
_TRUSTED = ["sklearn.tree._tree.Tree", "numpy.dtype"]


def check_fitted(estimator: object) -> None:
    """Refuse an estimator that is not fitted, or has invalid parameters."""
    name = type(estimator).__name__
    for parameter in getattr(type(estimator), "_get_param_names", list)():
        if not hasattr(estimator, parameter):
            raise _unusable(estimator, parameter, "missing")
    try:
        if isinstance(estimator, Learner):
            check_parameters(estimator, estimator.parameters)
        elif isinstance(estimator, BaseEstimator):
            estimator._validate_params()
    except ValueError as error:  # InvalidParameterError, which lists types
        raise InvalidValue(name, shortened(str(error), 120)) from error
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError) as error:
        raise InvalidValue(name, "not fitted") from error


def numbers_of(estimator: object, name: str, shape: Shape) -> NDArray[np.float64]:
    """Return a fitted attribute as finite float64 numbers; None in `shape` is any size but 0.

    Raises `InputError` if the attribute is missing or is not such an array.
    """
    return _numbers(estimator, name, array_of(estimator, name), shape)


def sizes_of(estimator: object, name: str) -> list[int]:
    """Return the sizes of the arrays in a fitted attribute that is a list."""
    arrays = attribute(estimator, name)
    if not isinstance(arrays, list | tuple):
        raise _unusable(estimator, name, "is not a list of arrays")
    return [np.size(each) for each in arrays]


def arrays_of(estimator: object, name: str, shapes: Sequence[Shape]) -> list[NDArray[np.float64]]:
    """Return a fitted attribute that is a list of arrays of numbers with these shapes."""
    arrays = attribute(estimator, name)
    if not isinstance(arrays, list | tuple) or len(arrays) != len(shapes):
        raise _unusable(estimator, name, f"is not a list of {len(shapes):,} arrays")
    each = zip(arrays, shapes, strict=True)
    return [_numbers(estimator, name, np.asarray(array), shape) for array, shape in each]


def _numbers(estimator: object, name: str, array: Array, shape: Shape) -> NDArray[np.float64]:
    if array.dtype.kind not in "fiu":
        raise _unusable(estimator, name, "does not contain numbers")
    fits = array.ndim == len(shape) and all(
        size > 0 if wanted is None else size == wanted
        for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        must = f"must have the shape ({wanted})"
        raise _unusable(estimator, name, f"has the shape {array.shape}, but {must}")
    if not np.isfinite(array).all():
        raise _unusable(estimator, name, "has a NaN or infinite number")
    numbers: NDArray[np.float64] = array.astype(np.float64)
    if np.abs(numbers).max() > LARGEST:
        raise _unusable(estimator, name, f"has a number above {LARGEST:g}")
    return numbers


def array_of(estimator: object, name: str) -> Array:
    """Return a fitted attribute as an array of any type."""
    value = attribute(estimator, name)
    try:
        return _dense(estimator, name, value) if issparse(value) else np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:  # such as a ragged list
        if isinstance(error, InputError):
            raise
        raise _unusable(estimator, name, "is not an array") from error


def _dense(estimator: object, name: str, value: object) -> Array:
    """Return a sparse matrix as a dense one; checks the indices, unlike compiled code."""
    try:
        rows = csr_array(value)
        rows.check_format(full_check=True)
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise _unusable(estimator, name, "a damaged sparse matrix") from error
    if 8 * rows.shape[0] * rows.shape[1] > LIMIT_BYTES:
        raise _unusable(estimator, name, f"takes more than {LIMIT_BYTES:,} bytes as a dense array")
    return np.asarray(rows.toarray())


def class_labels(estimator: object) -> Array:
    """Return the labels of an estimator's classes, as an array of any shape."""
    if isinstance(getattr(estimator, "classes_", None), list):  # a forest's or tree's
        raise several_outputs(estimator)
    labels = array_of(estimator, "classes_")
    if labels.dtype.kind not in "biufUSO":
        raise _unusable(estimator, "classes_", "is not a list of labels")
    return labels


def flag_of(estimator: object, name: str) -> bool:
    """Return a boolean parameter."""
    value = attribute(estimator, name)
    if not isinstance(value, bool | np.bool_):
        raise _unusable(estimator, name, "must be True or False")
    return bool(value)


def text_of(estimator: object, name: str) -> str:
    """Return a parameter that is a text; "a function" for anything else."""
    value = attribute(estimator, name)
    return value if isinstance(value, str) else "a function"


def check_text(estimator: object, name: str, wanted: str) -> None:
    """Refuse an estimator with another value of a parameter that is a text."""
    value = text_of(estimator, name)
    check(value == wanted, f"{type(estimator).__name__}.{name}", repr(value[:40]), repr(wanted))


def attribute(estimator: object, name: str) -> Any:
    """Return an attribute of a fitted estimator."""
    check_fitted(estimator)
    try:
        return getattr(estimator, name)
    except (AttributeError, TypeError, ValueError, LookupError) as error:  # some are computed
        raise _unusable(estimator, name, "missing") from error


def _unusable(estimator: object, name: str, what: str) -> InputError:
    return InvalidValue(f"{type(estimator).__name__}.{name}", what)


@contextmanager
def refusing(what: str, library: str) -> Iterator[None]:
    """Turn errors from data that differs from the library's format into one sentence."""
    try:
        with np.errstate(all="ignore"):  # numbers are checked afterwards
            yield
    except InputError:
        raise
    except Exception as error:  # an untrusted file may cause any error
        why = " ".join(str(error).split())
        if isinstance(error, LookupError | TypeError | AttributeError):
            found = "lacks " if isinstance(error, KeyError) else "a part has another structure: "
            why = f"{found}{why}"
        raise InvalidValue(
            what,
            f"not a classifier in {library}'s format ({shortened(why)})",
            "train and save the classifier again",
        ) from error


def several_outputs(estimator: object) -> InputError:
    """Return the error for an estimator that predicts several classes per point."""
    return InvalidValue(type(estimator).__name__, "several outputs, expected one class per point")


def load_estimator(path: Path) -> Any:
    """Return the estimator in a file of ``skops.io.dump`` if all of its types are trusted."""
    require("skops")
    from skops import io

    with (
        ArrayArchive(path, limit_bytes=_LIMIT_BYTES, most_members=_MOST_MEMBERS) as archive,
        refusing(str(path), "skops"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # about the contents, which are checked later
        _check_members(path)
        content = path.read_bytes()
        unknown = [
            str(kind) for kind in io.get_untrusted_types(data=content) if kind not in _TRUSTED
        ]
        if unknown:
            raise _untrusted(path, unknown[0])
        for name in archive.names:
            if name != _SCHEMA:
                archive.read(name, NODE_DTYPE)  # checks that its header matches its size
        return io.loads(content, trusted=_TRUSTED)


def _check_members(path: Path) -> None:
    """Refuse a schema that refers to members so often that they take too much memory."""
    with zipfile.ZipFile(path) as archive:
        sizes = {member.filename: member.file_size for member in archive.infolist()}
        schema = json.loads(archive.read(_SCHEMA))
    parts = list(_parts(schema))
    for node in parts:
        a_tree = isinstance(node, dict) and node.get("__loader__") == "TreeNode"
        check(not a_tree or _has_one_output(node), str(path), "a tree of several outputs", "one")
        check(not _is_made_type(node), str(path), "a type of numbers", "that of an array")
    total = sum(sizes.get(part, 0) for part in parts if isinstance(part, str))
    check_range(f"bytes of {path} in memory", total, 0, _LIMIT_BYTES)


def _is_made_type(node: Any) -> bool:
    """Return whether a node is a type of numbers other than that of an array in the file."""
    a_type = isinstance(node, dict) and node.get("__class__") == "dtype"
    return a_type and node.get("__loader__") != "DTypeNode"


def _has_one_output(tree: dict[str, Any]) -> bool:
    """Return whether a tree's constructor, which checks nothing, gets arguments for one output."""
    outputs = tree["__reduce__"]["args"]["content"][2]
    return bool(outputs["__loader__"] == "JsonNode" and outputs["content"] == "1")


def _parts(schema: object) -> Iterator[Any]:
    left = [schema]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, dict):
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)


def _untrusted(path: Path, kind: str) -> InputError:
    remedy = "convert the estimator in Python, with protonn_edge.extensions.conversion.from_sklearn"
    if "metrics._scorer" in kind:  # of a search for parameters
        remedy = "save its best_estimator_, or " + remedy
    if "neural_network" in kind:
        remedy += ", or export the network with skl2onnx, and convert the .onnx file"
    if any(tree in kind for tree in ("KDTree", "BallTree", "_dist_metrics")):
        remedy = "fit the classifier with algorithm='brute', which stores no tree, or " + remedy
    return InvalidValue(
        path, f"an object of the type {kind[:80]!r}, which is not known to be safe", remedy
    )


@contextmanager
def numbers_in_range() -> Iterator[None]:
    """Refuse an estimator with numbers, or points, beyond the range of floats."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except (FloatingPointError, np.linalg.LinAlgError) as error:
        raise InvalidValue(
            "the estimator",
            f"numbers out of range on these points ({error})",
            "scale the features, and fit the estimator again",
        ) from error
