"""Files of other programs in place of a model file: what they are, and what leads on from there.

A file is recognized by its content first: a signature, a key of JSON, or a name in an archive or a
folder. Only then does the ending of its name count.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from protonn_edge.errors import InputError

_HEAD_BYTES = 1 << 16
_MOST_NAMES = 10_000
Reader = Literal["estimator", "booster", "network"]


@dataclass(frozen=True)
class OtherFile:
    """A kind of file that is not a model file."""

    what: str  # with an article
    way: str  # what to do, if `convert` does not read it
    reader: Reader | None = None  # what `convert` reads it with
    endings: tuple[str, ...] = ()  # of the file's name, in lower case
    begins: bytes = rb"(?!)"  # a pattern of the content's beginning; by default, none
    holds: tuple[str, ...] = ()  # endings of names in an archive or a folder; it has one of them

    def in_place_of_a_model(self, path: Path) -> InputError:
        """Return the error for a command that needs a model file."""
        way = self.way
        if self.reader:
            way = f"convert it first, with 'protonn-edge convert {path} --data DATA -o model.npz'"
        return InputError(f"a model file is needed here, but {path} is {self.what}; {way}")


DATA = OtherFile(
    "a file of data",
    "name a model in its place, and the data where the command takes data",
    endings=(".csv", ".tsv", ".arff", ".xlsx", ".parquet", ".npy", ".wav"),
)
KINDS = (
    OtherFile(
        "an estimator in skops's format",
        "",
        reader="estimator",
        endings=(".skops",),
        holds=("schema.json",),
    ),
    OtherFile(
        "a booster of XGBoost",
        "",
        reader="booster",
        endings=(".ubj",),
        begins=rb'\{\s*"learner"|\{[A-Za-z].{1,9}learner\{',
    ),
    OtherFile("a booster of LightGBM", "", reader="booster", begins=rb"tree\r?\n"),
    OtherFile(
        "a network of TensorFlow Lite",
        "",
        reader="network",
        endings=(".tflite",),
        begins=rb"....TFL3",
    ),
    OtherFile(
        "a network in ONNX",
        "",
        reader="network",
        endings=(".onnx",),
        begins=rb"\x08[\x03-\x20]\x12.[\w.-]*(?i:onnx|torch|keras|tf)",
    ),
    OtherFile(
        "a Keras model",
        "export it in Keras with model.export('model.onnx', format='onnx'), or make a .tflite file "
        "with tf.lite.TFLiteConverter.from_keras_model(model).convert()",
        endings=(".keras", ".h5", ".hdf5"),
        begins=rb"\x89HDF",
        holds=("model.weights.h5", "keras_model.h5"),
    ),
    OtherFile(
        "a PyTorch model",
        "load it in PyTorch, and export it with torch.onnx.export(network.eval(), (X[:1],), "
        "'model.onnx')",
        endings=(".pt", ".pth", ".ckpt"),
        begins=rb"\x80\x02\x8a\nl\xfc",
        holds=("/data.pkl",),
    ),
    OtherFile(
        "a TensorFlow SavedModel",
        "make a .tflite file from its folder, with "
        "tf.lite.TFLiteConverter.from_saved_model(folder).convert()",
        endings=(".pb",),
        begins=rb"\x08\x01\x12",
        holds=("saved_model.pb",),
    ),
    OtherFile(
        "a TensorFlow.js model",
        "turn it into a Keras model with tensorflowjs_converter, and export that as ONNX, or "
        "export it from Teachable Machine as TensorFlow Lite",
        begins=rb'\{.*"(modelTopology|weightsManifest)"',
        holds=("weights.bin", "group1-shard1of1.bin"),
    ),
    OtherFile(
        "a CatBoost model",
        "its trees cannot be read, so train with XGBoost, LightGBM or scikit-learn instead",
        endings=(".cbm",),
        begins=rb'CBM1|\{.*"(oblivious_trees|features_info)"',
    ),
    OtherFile(
        "a list of a booster's trees for people to read",
        "save the booster itself, in XGBoost with save_model('model.json'), in LightGBM with "
        "save_model('model.txt')",
        begins=rb'\[\s*\{\s*"nodeid"|booster\[0\]|\{\s*"name"\s*:\s*"tree"',
    ),
    OtherFile(
        "a model in a binary format of XGBoost",
        "load it in XGBoost, and save it with save_model('model.json')",
        endings=(".model", ".deprecated"),
        begins=rb"binf",
    ),
    OtherFile(
        "a pickle, which could execute code, so it is never read",
        "write the estimator with skops.io.dump (.skops), or convert it in Python with "
        "from_sklearn",
        endings=(".pkl", ".pickle", ".joblib", ".sav"),
        begins=rb"\x80[\x02-\x05]",
    ),
    OtherFile(
        "a PMML document",
        "convert the classifier from which it was made, in Python with from_sklearn, or from a "
        "file of its own library",
        endings=(".pmml",),
        begins=rb"\s*(<\?xml[^>]*>\s*)?<PMML",
    ),
    OtherFile(
        "C code",
        "name the file from which it was made, such as the .tflite file of an array",
        endings=(".h", ".hpp", ".c", ".cc", ".cpp", ".ino"),
        begins=(
            rb"\s*(//|/\*|#\s*(include|pragma|ifndef|define)\b"
            rb"|((static|const|extern|unsigned|alignas\S*|\w+_t) )+\w*[^\n]{0,80}\[)"
        ),
    ),
    OtherFile(
        "a Core ML model",
        "export the original network as ONNX",
        endings=(".mlmodel", ".mlpackage"),
        holds=(".mlmodel",),
    ),
    OtherFile(
        "a file of weights alone",
        "export the whole network as ONNX",
        endings=(".safetensors", ".gguf"),
    ),
    DATA,
    OtherFile("a zip archive", "unpack it, and name the model in it", endings=(".zip",)),
)


def other_file(path: Path) -> OtherFile | None:
    """Return the kind of a file or folder; None if it is unknown, unreadable or a model file."""
    try:
        content, names = _head_of(path), _names_in(path)
    except (OSError, ValueError):
        return None
    if path.suffix == ".npz" or "format_version.npy" in names:
        return None
    for kind in KINDS:
        if re.match(kind.begins, content, re.DOTALL) or _has_one(names, kind.holds):
            return kind
    return next((kind for kind in KINDS if path.suffix.lower() in kind.endings), None)


@contextmanager
def others_refused(path: Path) -> Iterator[None]:
    """Say what a file is, in place of what is wrong with it as a model, if another program's."""
    try:
        yield
    except InputError as error:
        if (other := other_file(path)) is None:
            raise
        raise other.in_place_of_a_model(path) from error


def may_be_model(path: Path) -> bool:
    """Return whether a file is, or should be, one of arrays, as model files are."""
    return path.suffix == ".npz" or "format_version.npy" in _names_in(path)


def _has_one(names: Sequence[str], endings: tuple[str, ...]) -> bool:
    return any(f"/{name}".endswith(endings) for name in names if endings)


def _head_of(path: Path) -> bytes:
    """Return the beginning of a regular file; nothing of anything else, which could block."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def _names_in(path: Path) -> list[str]:
    """Return names in a folder or a zip archive; none of anything else."""
    with suppress(zipfile.BadZipFile, NotImplementedError):  # damaged, or of a later version
        if path.is_dir():
            return sorted(each.name for each in path.iterdir())[:_MOST_NAMES]
        if path.is_file():
            with zipfile.ZipFile(path) as archive:
                return archive.namelist()[:_MOST_NAMES]
    return []
