"""Read a fitted estimator from a skops file, which has arrays and a schema instead of a pickle.

Reading a file of joblib or pickle can run any code, so they are refused. skops only creates objects
of trusted types: here the harmless ones of scikit-learn, NumPy and SciPy that it lists, and no
others. Sizes are checked before skops reads a file.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree._tree import NODE_DTYPE

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.errors import InputError
from protonn_edge.system.extras import require

SUFFIX = ".skops"

_LIMIT_BYTES = 256 * 2**20
_SCHEMA = "schema.json"

# Arrays of nodes, whose shapes it checks; `trees` checks their links before following them.
_TREES = ["sklearn.tree._tree.Tree"]


def load_estimator(path: Path) -> Any:
    """Return the estimator in a file that ``skops.io.dump`` has written.

    Raises
    ------
    InputError
        One sentence: skops is not installed, or the file is not of skops, is damaged or too large,
        or has objects of other types.
    """
    require("skops")
    from skops import io  # noqa: PLC0415 (it takes a second)

    with ArrayArchive(path, limit_bytes=_LIMIT_BYTES) as archive:
        _read(path, lambda: _check_members(path))
        content = path.read_bytes()
        unknown = _read(path, lambda: io.get_untrusted_types(data=content))
        unknown = [str(kind) for kind in unknown if kind not in _TREES]
        if unknown:
            raise _untrusted(path, unknown[0])
        for name in archive.names:
            if name != _SCHEMA:
                archive.read(name, NODE_DTYPE)  # checks that its header matches its size
    return _read(path, lambda: io.loads(content, trusted=_TREES))


def _check_members(path: Path) -> None:
    """Refuse a schema that refers to members so often that they take too much memory."""
    with zipfile.ZipFile(path) as archive:
        sizes = {member.filename: member.file_size for member in archive.infolist()}
        schema = json.loads(archive.read(_SCHEMA))
    for node in _dicts(schema):
        if node.get("__loader__") == "TreeNode" and not _has_one_output(node):
            raise InputError(f"{path} has a tree of several outputs; write one with a single one")
    total = sum(sizes.get(name, 0) for name in _texts(schema))
    if total > _LIMIT_BYTES:
        raise InputError(
            f"{path} would take {total:,} bytes, the limit is {_LIMIT_BYTES:,}; convert it in "
            "Python"
        )


def _has_one_output(tree: dict[str, Any]) -> bool:
    """Return whether the arguments of a tree's constructor, which checks none, have one output."""
    outputs = tree["__reduce__"]["args"]["content"][2]
    return bool(outputs["__loader__"] == "JsonNode" and outputs["content"] == "1")


def _texts(schema: Any) -> Iterator[str]:
    """Yield all texts in a schema, including names of members."""
    return (each for each in _parts(schema) if isinstance(each, str))


def _dicts(schema: Any) -> Iterator[dict[str, Any]]:
    return (each for each in _parts(schema) if isinstance(each, dict))


def _parts(schema: Any) -> Iterator[Any]:
    """Yield a schema and all its parts."""
    left = [schema]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, dict):
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)


def _read(path: Path, by_skops: Callable[[], Any]) -> Any:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # about the file's contents, which are checked later
            return by_skops()
    except InputError:
        raise
    except Exception as error:  # an untrusted file may cause any error
        raise InputError(
            f"{path} cannot be read by skops ({type(error).__name__}); write it with skops.io.dump"
        ) from error


def _untrusted(path: Path, kind: str) -> InputError:
    remedy = "convert it in Python, by protonn_edge.conversion.from_sklearn"
    if any(tree in kind for tree in ("KDTree", "BallTree", "_dist_metrics")):
        remedy = "fit neighbours with algorithm='brute', which needs no tree, or " + remedy
    return InputError(
        f"{path} has an object of the type {kind[:80]!r}, which is not known to be safe; {remedy}"
    )
