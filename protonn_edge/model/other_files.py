"""Files of other programs that `convert` makes models of.

A file is recognized by its content first: a signature, or a name in an archive. Only then does the
ending of its name count.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from protonn_edge.system.errors import InputError
from protonn_edge.system.shell import command_line

if TYPE_CHECKING:
    from protonn_edge.data.points.dataset import Dataset
    from protonn_edge.model.model import Model

_HEAD_BYTES = 1 << 16
_NEVER = rb"(?!)"
Reader = Literal["estimator", "booster", "network"]


class ForeignFolder(NamedTuple):
    """A reader of folders of another program's models, of an extension."""

    # of a data set, the folder and how features are normalized
    model_of: Callable[[Dataset, Path, str], Model]


@dataclass(frozen=True)
class OtherFile:
    """A kind of file that `convert` reads."""

    what: str  # with an article
    reader: Reader
    ending: str = ""  # of the file's name, in lower case
    begins: bytes = _NEVER  # a pattern of the content's beginning
    holds: str = ""  # a name in an archive


KINDS = (
    OtherFile("an estimator in skops's format", "estimator", ".skops", holds="schema.json"),
    OtherFile(
        "a booster of XGBoost", "booster", ".ubj", rb'\{\s*"learner"|\{[A-Za-z].{1,9}learner\{'
    ),
    OtherFile("a booster of LightGBM", "booster", begins=rb"tree\r?\n"),
    OtherFile("a network of TensorFlow Lite", "network", ".tflite", rb"....TFL3"),
    OtherFile(
        "a network in ONNX",
        "network",
        ".onnx",
        rb"\x08[\x03-\x20]\x12.[\w.-]*(?i:onnx|torch|keras|tf)",
    ),
)


def other_file(path: Path) -> OtherFile | None:
    """Return the kind of a file; None if `convert` does not read it, or it is a model file."""
    try:
        content, names = _head_of(path), _names_in(path)
    except (OSError, ValueError):
        return None
    if path.suffix == ".npz" or "format_version.npy" in names:
        return None
    for kind in KINDS:
        if re.match(kind.begins, content, re.DOTALL) or kind.holds in names:
            return kind
    ending = path.suffix.lower()
    return next((kind for kind in KINDS if ending and ending == kind.ending), None)


@contextmanager
def others_refused(path: Path) -> Iterator[None]:
    """Say that a file is no model file, in place of what is wrong with it as one."""
    try:
        yield
    except InputError as error:
        if not _has_content(path) or may_be_model(path):
            raise
        if (other := other_file(path)) is None:
            raise InputError(
                f"{path} is not a model file; name one that 'train' or 'convert' writes"
            ) from error
        convert = ["protonn-edge", "convert", str(path), "--data", "DATA", "-o", "model.npz"]
        raise InputError(
            f"a model file is needed here, but {path} is {other.what}; convert it first: "
            f"{command_line(convert)}"
        ) from error


def may_be_model(path: Path) -> bool:
    """Return whether a file is, or should be, one of arrays, as model files are."""
    return path.suffix == ".npz" or "format_version.npy" in _names_in(path)


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0 and os.access(path, os.R_OK)


def _head_of(path: Path) -> bytes:
    """Return the beginning of a regular file; nothing of anything else, which could block."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def _names_in(path: Path) -> list[str]:
    """Return names in a zip archive; none of anything else."""
    with suppress(zipfile.BadZipFile, NotImplementedError):  # damaged, or of a later version
        if path.is_file():
            with zipfile.ZipFile(path) as archive:
                return archive.namelist()
    return []
