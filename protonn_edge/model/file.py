"""The versioned .npz file of a model.

The file holds everything that the quantizer needs from the trainer: `save_model` writes it,
`load_model` reads it. It may come from a stranger, so it is checked before memory is allocated.

Raising the format version
--------------------------
1. Add one to `FORMAT_VERSION`; files of other versions are refused.
2. Write and read the new arrays in `_arrays_of` and `_model_of`, and list them in `_ARRAYS`. The
   fields of a kind of classifier or feature are declared in its own module.
3. Replace the tests' file of the old format by one of the new format.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from protonn_edge.data.files.archive import ArrayArchive, packed
from protonn_edge.data.naming import NAME_LIMIT
from protonn_edge.data.points import instruments
from protonn_edge.model import checks, stored
from protonn_edge.model.checks import Arrays, check_type, single_value
from protonn_edge.model.expected_answers import ExpectedAnswers
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.features import Features
from protonn_edge.model.head import Head
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.model import Model, units_of
from protonn_edge.model.other_files import others_refused
from protonn_edge.model.registry import HEADS, stage_class
from protonn_edge.model.rule_kinds import arrays_of, policy_of, rule_kinds
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.model.watch import watchable_inputs
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_most
from protonn_edge.system.errors import InputError, InvalidValue, beyond
from protonn_edge.system.extensions import missing_extension
from protonn_edge.system.files import MODEL_LIMIT_BYTES, write_atomically
from protonn_edge.system.shell import command_line

FORMAT_VERSION = 9

# The features decide whether features are whole numbers.
_STATISTICS = tuple(field.name for field in fields(InputStatistics) if field.name != "whole")
_FEATURES = "features"  # the JSON of features; names of their arrays begin with it, too
_HEAD = "head"  # likewise
_ANY_HEAD: type = Head  # an abstract class, whose kind is in the file
_FLOATS = ("normalizer_offset", "normalizer_scale", *(f"inputs_{name}" for name in _STATISTICS))
_ARRAYS = (
    *("format_version", _HEAD, "normalizer_kind", *_FLOATS, "classes"),
    *("feature_names", "record", "clipped", "raw_exponents"),
)
_OPTIONAL_ARRAYS = (
    "activity",  # of earlier versions, which nothing reads
    *instruments.ARRAYS,
)


def save_model(model: Model, path: Path | str) -> None:
    """Write `model` to `path`, whole or not at all; the same model gives the same bytes.

    Raises
    ------
    InputError
        If the file would be larger than `load_model` takes, or an array is one that it refuses.
    """
    write_atomically(Path(path), checked_bytes(model, path))


def model_bytes(model: Model) -> bytes:
    """Return the content of a model file: an .npz without times, the same on every system."""
    return packed(_arrays_of(model))


def checked_bytes(model: Model, path: Path | str) -> bytes:
    """Return the content of the model file at `path`; raises the errors of `save_model`."""
    arrays = _arrays_of(model)
    try:
        _model_of(arrays)
    except InputError as error:
        raise InputError(f"{path} is not written, because it could not be read: {error}") from error
    content = packed(arrays)
    if len(content) > MODEL_LIMIT_BYTES:
        raise beyond(path, f"{len(content):,} bytes", MODEL_LIMIT_BYTES, "train a smaller model")
    return content


def load_model(path: Path | str) -> Model:
    """Read and check a model file.

    Raises
    ------
    InputError
        If the file is no .npz, truncated, too large or pickled, has another format version, or an
        array is missing, unknown, not finite, or of a wrong type or shape; the sentence names the
        file and the array.
    """
    path = Path(path)
    if path.is_dir():
        inside = (each for depth in ("*", "*/*", "*/*/*") for each in path.glob(f"{depth}.npz"))
        such = next((f", such as {command_line([str(each)])}" for each in inside), "")
        raise InputError(f"{path} is a folder; name a model file{such}")
    with others_refused(path), ArrayArchive(path, limit_bytes=MODEL_LIMIT_BYTES) as archive:
        try:
            if sentence := _why_unlike(archive):
                raise InputError(f"{path} {sentence}")
            return _model_of({name: archive.read(name) for name in archive.names})
        except InvalidValue as error:
            raise error.within(str(path), "train the model again") from error
        except InputError as error:
            message = str(error)
            raise InputError(message if str(path) in message else f"{path}: {message}") from error


def _why_unlike(archive: ArrayArchive) -> str:
    """Return why an archive is no model file that can be read; "" if it is one."""
    if "format_version" not in archive.names:
        return (
            "has no array 'format_version', so it is not a protonn-edge model; create one with "
            "protonn-edge train"
        )
    version = int(single_value(archive.read("format_version"), "format_version", "iu"))
    if version == FORMAT_VERSION:
        return ""
    remedy = "train the model again"
    if version > FORMAT_VERSION:
        remedy = f"install a version of protonn-edge that reads format {version}"
    return (
        f"has model format {version}, but this protonn-edge reads format {FORMAT_VERSION}; {remedy}"
    )


def _arrays_of(model: Model) -> Arrays:
    """Return the arrays of the current format version, in the order of the file."""
    text = json.dumps(model.record, sort_keys=True, allow_nan=False, ensure_ascii=False)
    arrays: Arrays = {
        "format_version": np.array(FORMAT_VERSION, dtype=np.int64),
        **stored.to_arrays(model.head, _HEAD),
        "normalizer_kind": np.array(model.normalizer.kind),
        "normalizer_offset": model.normalizer.offset,
        "normalizer_scale": model.normalizer.scale,
        **{f"inputs_{name}": getattr(model.inputs, name) for name in _STATISTICS},
        "classes": np.array(model.classes, dtype=np.str_),
        "feature_names": np.array(model.feature_names, dtype=np.str_),
        "record": np.frombuffer(text.encode(), dtype=np.uint8),
        "clipped": np.array(model.clipped, dtype=np.int64),
    }
    if model.expected is not None:
        arrays[model.expected.array] = model.expected.to_array()
    arrays |= {} if model.features is None else stored.to_arrays(model.features, _FEATURES)
    arrays |= arrays_of(model.policy)
    arrays |= {"raw_exponents": units_of(model), **instruments.to_arrays(model.instrument)}
    return {name: checks.little_endian(array) for name, array in arrays.items()}


def _model_of(arrays: Arrays) -> Model:
    """Build the model from the arrays of a file; the dataclasses check the values."""
    _check_names(arrays)
    for name in _FLOATS:
        check_type(arrays[name], name, "f8")
    families: dict[type, Callable[[str], type]] = {Head: _head_class, IntegerStage: stage_class}
    exponents = arrays["raw_exponents"]  # which the model checks
    statistics: dict[str, Any] = {name: arrays[f"inputs_{name}"] for name in _STATISTICS}
    model = Model(
        head=stored.from_arrays(_ANY_HEAD, arrays, _HEAD, families),
        normalizer=Normalizer(
            str(single_value(arrays["normalizer_kind"], "normalizer_kind", "U")),
            arrays["normalizer_offset"],
            arrays["normalizer_scale"],
        ),
        inputs=InputStatistics(**statistics),
        classes=_texts(arrays["classes"], "classes"),
        feature_names=_texts(arrays["feature_names"], "feature_names"),
        record=checks.parsed_json(arrays["record"], "record"),
        clipped=bool(single_value(arrays["clipped"], "clipped", "i")),
        features=stored.from_arrays(Features, arrays, _FEATURES, {FeatureStage: stage_class})
        if _FEATURES in arrays
        else None,
        policy=policy_of(arrays),
        raw_exponents=exponents if exponents.size else None,
        instrument=instruments.from_arrays(arrays),
    )
    if (expected := arrays.get(ExpectedAnswers.array)) is None:
        return model
    n_inputs = watchable_inputs(model.features, model.n_inputs)
    return replace(model, expected=ExpectedAnswers.of_array(expected, model.n_classes, n_inputs))


def _head_class(kind: str) -> type[Head]:
    """Return the class of a kind of classifier."""
    if kind not in HEADS:
        raise InputError(
            f"the kind of classifier is {kind[:40]!r}, but this version of protonn-edge supports "
            f"only {', '.join(HEADS)}; install a newer version"
        )
    head: type[Head] = HEADS[kind]
    return head


def _check_names(arrays: Arrays) -> None:
    for name in _ARRAYS:
        if name not in arrays:
            reason = "missing, so the file is incomplete"
            raise InvalidValue(name, reason, "train the model again")
    allowed = {*_ARRAYS, *_OPTIONAL_ARRAYS, *(kind.array for kind in rule_kinds())}
    allowed.add(ExpectedAnswers.array)
    for name in arrays:
        owner, _, below = name.partition(".")
        if name not in allowed and owner not in (_FEATURES, _HEAD):
            if below and owner.isidentifier():
                raise missing_extension(owner)
            raise InvalidValue(name[:40], "unknown", "train the model again")


def _texts(array: Array, name: str) -> tuple[str, ...]:
    if array.dtype.kind != "U" or array.ndim != 1:
        raise checks.unlike(array, name, "a list of names")
    check_most(
        name, array.dtype.itemsize // 4, NAME_LIMIT, "characters in a name", "shorten the names"
    )
    return tuple(str(text) for text in array.tolist())
