"""Read a fitted estimator from a file of skops, which holds arrays and a schema, and no pickle.

The files of joblib and pickle run whatever their author wished as they are read, so they are
refused. skops makes objects only of the types that it is told to trust: here those of scikit-learn,
NumPy and SciPy that it knows as harmless, and no others. Before it sees a file, sizes are checked.
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

# Arrays of nodes, whose shapes it checks; `trees` checks where they lead before it follows them.
_TREES = ["sklearn.tree._tree.Tree"]


def load_estimator(path: Path) -> Any:
    """Return the estimator in a file that ``skops.io.dump`` has written.

    Raises
    ------
    InputError
        One sentence: skops is not installed, the file is not one of its, damaged, too large, or
        holds objects of other types.
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
                archive.read(name, NODE_DTYPE)  # its header asks for no more than it has bytes
    return _read(path, lambda: io.loads(content, trusted=_TREES))


def _check_members(path: Path) -> None:
    """Refuse a schema that has members read so often that they take too much memory."""
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
    """Return whether the constructor of a tree, which checks nothing, is given one output."""
    outputs = tree["__reduce__"]["args"]["content"][2]
    return bool(outputs["__loader__"] == "JsonNode" and outputs["content"] == "1")


def _texts(schema: Any) -> Iterator[str]:
    """Yield all texts in a schema, the members' names among them."""
    return (each for each in _parts(schema) if isinstance(each, str))


def _dicts(schema: Any) -> Iterator[dict[str, Any]]:
    return (each for each in _parts(schema) if isinstance(each, dict))


def _parts(schema: Any) -> Iterator[Any]:
    """Yield a schema and all that is in it."""
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
            warnings.simplefilter("ignore")  # of what the file says; its numbers are checked later
            return by_skops()
    except InputError:
        raise
    except Exception as error:  # a stranger's file may make it raise anything
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
