"""The file of every model that there is: read as it was, or refused in a sentence if damaged.

A kind of model, a feature and a rule are tested here as soon as one of
`stored_models` has them.
"""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from stored_models import stored_models

from protonn_edge.model.file import load_model, model_bytes, save_model
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.model.stored import same
from protonn_edge.system.errors import InputError

_OF_RULES = {kind.array for kind in rule_kinds()}  # a model may have them or not
_OPTIONAL = {*_OF_RULES, "observation.expected"}
_NUMBERS = {*_OF_RULES, "features.points.scale.step"}  # of any float type
_GONE = object()
_TWO = [1.0, 1.0]
_WRONG = (_GONE, None, "other", -1, 10**400, _TWO)
_NO_JSON = (b"{", b"\xff", b"[" * 100_000, b"", b"[]", b'{"a": NaN}')
_MEANT = {  # in the JSON of a file
    "rate": (None,),
    "maximum": (None,),
    "to_even": (None,),
    "voters": (None,),
    "features": (None,),
    "biases": (_TWO,),
    "weights": (_TWO,),
}


@cache
def _arrays(name: str) -> dict[str, np.ndarray]:
    data = io.BytesIO(model_bytes(stored_models()[name]))
    with np.load(data, allow_pickle=False) as archive:
        return {array: archive[array] for array in archive.files}


@cache
def _members(name: str) -> dict[str, bytes]:
    """Return the files in a model's file: most stay as they are when an array is damaged."""
    return {array: _member(value) for array, value in _arrays(name).items()}


def _member(array: np.ndarray) -> bytes:
    made = io.BytesIO()
    np.save(made, array, allow_pickle=False)
    return made.getvalue()


def _damaged(name: str, array: np.ndarray) -> Iterator[tuple[str, np.ndarray | None]]:
    if name not in _OPTIONAL:
        yield "missing", None
    yield "text", array.astype("S" if array.dtype.kind == "U" else str)
    yield "one axis more", array[None]
    if array.ndim and array.size and array.dtype.kind != "U":
        yield "one number", array.flat[0]
    if array.ndim and array.size and name not in _OF_RULES and name != "raw_exponents":
        yield "shorter", array[:-1]
        yield "longer", np.concatenate([array, array[-1:]])
    if array.ndim > 1 and array.size and array.shape[-1] > 1:
        yield "narrower", array[..., :-1]
    if array.dtype.kind in "iu" and name != "features.points.scale.step":
        yield "float", array.astype(float)
    if array.dtype.kind != "f":
        return
    if name not in _NUMBERS:
        yield "integers", array.astype(np.int64)
        yield "another float", array.astype("f8" if array.dtype == np.float32 else "f4")
    for wrong in (np.nan, np.inf, -np.inf) if array.size and name not in _OF_RULES else ():
        changed = array.copy()
        changed.flat[-1] = wrong
        yield str(wrong), changed


def _assert_refused(path: Path, members: dict[str, bytes], what: str) -> None:
    with ZipFile(path, "w") as archive:
        for array, member in members.items():
            archive.writestr(f"{array}.npy", member)
    try:
        load_model(path)
    except InputError as error:
        sentence = str(error)
    else:
        raise AssertionError(f"accepted: {what}")
    assert sentence.startswith(str(path)), (what, sentence)
    assert "\n" not in sentence, (what, sentence)


def _new_in(name: str) -> list[str]:
    """Return the arrays of a model that no model before it has."""
    own, names = _arrays(name), list(stored_models())
    before = [_arrays(other) for other in names[: names.index(name)]]
    return [
        array
        for array in own
        if not any(array in other and np.array_equal(own[array], other[array]) for other in before)
    ]


def _places(given: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    pairs: Any = ()
    if isinstance(given, dict):
        pairs = given.items()
    elif isinstance(given, list):
        pairs = [(i, value) for i, value in enumerate(given) if given.index(value) == i]
    for key, value in pairs:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _changed(given: Any, path: tuple[str | int, ...], value: object) -> Any:
    place = whole = copy.deepcopy(given)
    for key in path[:-1]:
        place = place[key]
    if value is _GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return whole


@pytest.mark.parametrize("name", stored_models())
def test_a_model_is_read_as_it_was(name: str, tmp_path: Path) -> None:
    model = stored_models()[name]
    save_model(model, tmp_path / "model.npz")
    read = load_model(tmp_path / "model.npz")
    assert model_bytes(read) == model_bytes(model)
    assert read.record == model.record
    for part in {each.name for each in fields(model)} - {"record", "raw_exponents"}:
        assert same(getattr(read, part), getattr(model, part)), part
    X = np.random.default_rng(0).uniform(model.inputs.lower.min(), 1, (5, model.n_features))
    assert np.array_equal(read.scores(X), model.scores(X))
    if why_floats_alone(model) is None:
        assert quantize(read).model_sha256 == quantize(model).model_sha256


@pytest.mark.parametrize("name", stored_models())
def test_each_damaged_array_is_refused(name: str, tmp_path: Path) -> None:
    arrays, members = _arrays(name), _members(name)
    for surplus in ("surplus", "head.surplus"):
        more = {**members, surplus: _member(np.zeros(3))}
        _assert_refused(tmp_path / "model.npz", more, f"{surplus} is there")
    for array in _new_in(name):
        for what, damaged in _damaged(array, arrays[array]):
            others = {key: value for key, value in members.items() if key != array}
            changed = others if damaged is None else {**others, array: _member(damaged)}
            _assert_refused(tmp_path / "model.npz", changed, f"{array}, {what}")


@pytest.mark.parametrize("name", stored_models())
def test_each_wrong_field_is_refused(name: str, tmp_path: Path) -> None:
    arrays, members = _arrays(name), _members(name)
    for text in {"head", "features", "record"}.intersection(_new_in(name)):
        given = json.loads(arrays[text].tobytes())
        more = json.dumps({**given, "surplus": 3}).encode()
        for no_json in _NO_JSON if text == "record" else (*_NO_JSON, more):
            damaged = {**members, text: _member(np.frombuffer(no_json, np.uint8))}
            _assert_refused(tmp_path / "model.npz", damaged, f"{text}: {no_json!r:.20}")
        for path in _places(given) if text != "record" else ():
            field = ".".join(map(str, (text, *path)))
            if field in arrays:
                continue  # an array of its own has the numbers
            for wrong in _WRONG:
                if any(wrong is meant for meant in _MEANT.get(str(path[-1]), ())):
                    continue
                if wrong is _GONE and isinstance(path[-1], int):
                    continue  # a list may be shorter
                changed = json.dumps(_changed(given, path, wrong)).encode()
                damaged = {**members, text: _member(np.frombuffer(changed, np.uint8))}
                _assert_refused(tmp_path / "model.npz", damaged, f"{field}: {wrong!r:.20}")
