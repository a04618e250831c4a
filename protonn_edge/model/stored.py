"""The uses of the fields of a dataclass, for all stages and heads: file, hash and description.

In a model file, a value is JSON in one array, and each array in it is an array of its own, named
after its place, such as ``features.stages.0.weights``. The annotation of a field decides what is
read: numbers, texts, tuples, arrays of a type, other dataclasses, and stages and heads by their
kinds. A field with ``init=False``, or with ``stored: False`` in its metadata, follows from others.
One with ``repr=False`` is not part of the arithmetic, and is not hashed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from protonn_edge.model.checks import Arrays, little_endian, parsed_json, unlike
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.extensions import missing_extension

T = TypeVar("T")
_hints_of = cache(get_type_hints)  # Python evaluates all annotations of a class each time

_SHOWN = 8  # values of a tuple in a description


def stored_fields(of: Any) -> list[Field[Any]]:
    """Return the fields of a dataclass that a file has."""
    return [each for each in fields(of) if each.metadata.get("stored", each.init)]


def digest(value: object) -> str:
    """Return the SHA-256, in hexadecimal, of what a hash covers."""
    hashed = hashlib.sha256()
    for part in parts(value, ""):
        hashed.update(part)
    return hashed.hexdigest()


def parts(value: object, name: str, *, every: bool = False) -> Iterator[bytes]:
    """Yield the bytes that stand for a value in a hash: the names and numbers of its fields.

    With `every`, fields that are not hashed count, too.
    """
    if is_dataclass(value) and not isinstance(value, type):
        yield f"{name}:{getattr(value, 'kind', '')}\n".encode()
        for each in fields(value):
            if each.repr or (every and each.metadata.get("stored", each.init)):
                yield from parts(getattr(value, each.name), f"{name}.{each.name}", every=every)
    elif isinstance(value, tuple):
        yield f"{name}:{len(value)}\n".encode()
        for number, each in enumerate(value):
            yield from parts(each, f"{name}.{number}", every=every)
    elif isinstance(value, np.ndarray):
        little = little_endian(value)
        yield f"{name}:{little.dtype.str}{little.shape}\n".encode()
        yield little.tobytes()
    else:
        yield f"{name}:{value!r}\n".encode()


def same(one: object, other: object) -> bool:
    """Return whether all fields of two values are equal."""
    return list(parts(one, "", every=True)) == list(parts(other, "", every=True))


def to_arrays(value: object, name: str) -> Arrays:
    """Return the arrays of a value for a model file."""
    arrays: Arrays = {}
    text = json.dumps(_plain(value, name, arrays), sort_keys=True, allow_nan=False)
    return {name: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}


def _plain(value: object, place: str, arrays: Arrays) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {
            name: _plain(each, f"{place}.{name}", arrays) for name, each in _stored(value).items()
        }
    if isinstance(value, tuple):
        return [_plain(each, f"{place}.{number}", arrays) for number, each in enumerate(value)]
    if isinstance(value, np.ndarray):
        arrays[place] = little_endian(value)
        return None
    return value


def _stored(value: object) -> dict[str, Any]:
    """Return the fields that a file has, after the kind of a stage or head."""
    kind = getattr(type(value), "kind", None)
    own = {each.name: getattr(value, each.name) for each in stored_fields(value)}
    return {"kind": kind, **own} if isinstance(kind, str) else own


def described(value: object) -> Any:
    """Return the fields of a value for JSON, with the shapes of its arrays."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: described(each) for name, each in _stored(value).items()}
    if isinstance(value, tuple):
        return [described(each) for each in value]
    if isinstance(value, np.ndarray):
        few = value.ndim == 1 and value.size <= _SHOWN
        return value.tolist() if few else {"shape": list(value.shape)}
    return value


def words(value: object) -> str:
    """Return numbers, texts and shapes of matrices in the fields of a value, for display."""
    shown = (_word(each.name, getattr(value, each.name)) for each in stored_fields(value))
    return ", ".join(word.replace("_", " ") for word in shown if word)


def _word(name: str, given: object) -> str:
    if isinstance(given, np.ndarray) and given.ndim > 1:
        return f"{name} {'x'.join(map(str, given.shape))}"
    if is_dataclass(given):
        return words(given)
    if isinstance(given, tuple) and given and is_dataclass(given[0]):
        return f"{len(given)} {name}"
    if isinstance(given, tuple) and given and not isinstance(given[0], tuple):
        return f"{name} {('x' if isinstance(given[0], int) else ' ').join(map(str, given))}"
    if isinstance(given, bool) or not isinstance(given, int | str):
        return name if given is True else ""
    return f"{name} {given}"


def from_arrays(
    of: type[T], arrays: Arrays, name: str, families: Mapping[type, Callable[[str], type]]
) -> T:
    """Return the value in a model file's arrays; `InputError`, with the place, if it is none.

    `families` has base classes, each with a function that finds the class of a kind.
    """
    reading = _Reading(arrays, families)
    value: T = reading.value(of, parsed_json(arrays[name], name), name)
    for each in arrays:
        if each.startswith(f"{name}.") and each not in reading.read:
            raise InvalidValue(each[:40], "unknown", "train the model again")
    return value


@dataclass
class _Reading:
    """The values in the arrays of a file, by the annotations of their fields."""

    arrays: Arrays
    families: Mapping[type, Callable[[str], type]]
    read: set[str] = field(default_factory=set)

    def value(self, of: Any, given: Any, place: str) -> Any:
        """Return what JSON, and the arrays below a place, describe."""
        of = _without_alias(of)
        origin = get_origin(of)
        if origin is np.ndarray:
            return self._array(of, place)
        if origin in (Union, UnionType):
            return self._one_of(get_args(of), given, place)
        if origin is tuple:
            return self._tuple(get_args(of), given, place)
        if origin is Literal:
            if given not in get_args(of):
                raise _wrong(place, f"one of {', '.join(map(repr, get_args(of)))}")
            return given
        if (isinstance(of, type) and is_dataclass(of)) or of in self.families:
            return self._fields(of, given, place)
        if of is float and type(given) is int and abs(given) < 2**53:
            given = float(given)
        if type(given) is not of or (of is float and not math.isfinite(given)):
            raise _wrong(place, f"of the type {getattr(of, '__name__', of)}")
        return given

    def _array(self, of: object, place: str) -> Any:
        if place not in self.arrays:
            raise InvalidValue(place, "missing", "train the model again")
        self.read.add(place)
        array = self.arrays[place]
        (wanted,) = get_args(get_args(of)[1])
        native = array.dtype.newbyteorder("=")
        fits = native.kind in "iuf" if wanted is Any else native == np.dtype(wanted)
        if not fits or not np.isfinite(array).all():
            raise unlike(
                array, place, f"of the type {getattr(wanted, '__name__', 'float')}, finite"
            )
        return array.astype(native, copy=False)

    def _one_of(self, kinds: tuple[Any, ...], given: object, place: str) -> Any:
        if given is None and NoneType in kinds and place not in self.arrays:
            return None
        (of,) = (each for each in kinds if each is not NoneType)
        return self.value(of, given, place)

    def _tuple(self, kinds: tuple[Any, ...], given: object, place: str) -> tuple[Any, ...]:
        if not isinstance(given, list):
            raise _wrong(place, "a list")
        if kinds[-1] is Ellipsis:
            kinds = kinds[:1] * len(given)
        if len(kinds) != len(given):
            raise _wrong(place, f"a list of {len(kinds)}")
        numbered = enumerate(zip(kinds, given, strict=True))
        return tuple(self.value(of, each, f"{place}.{number}") for number, (of, each) in numbered)

    def _addition(
        self, kinds_of: Callable[[], Mapping[str, type[Any]]], given: object, place: str
    ) -> Any:
        """Return an object of an extension, or None."""
        if given is None:
            return None
        kind = given.pop("kind", None) if isinstance(given, dict) else None
        kinds = kinds_of()
        if not isinstance(kind, str) or kind not in kinds:
            raise missing_extension(kind if isinstance(kind, str) else "")
        return self._fields(kinds[kind], given, place)

    def _fields(self, of: Any, given: Any, place: str) -> Any:
        if not isinstance(given, dict):
            raise _wrong(place, "an object")
        for base, class_of in self.families.items():
            if issubclass(of, base):
                kind = given.pop("kind", None)
                of = class_of(kind if isinstance(kind, str) else "")
        ended = getattr(of, "ended_fields", ())  # which files of earlier versions have
        given = {name: each for name, each in given.items() if name not in ended}
        self.read.update(f"{place}.{name}" for name in ended)
        added = {each.name: each.metadata.get("addition") for each in stored_fields(of)}
        if added.keys() != given.keys():
            odd = sorted(added.keys() ^ given.keys())[0]
            raise _wrong(place, f"an object with other names than {odd[:40]!r}")
        values = {
            name: self._addition(kinds, given[name], f"{place}.{name}")
            if (kinds := added[name]) is not None
            else self.value(_hints_of(of)[name], given[name], f"{place}.{name}")
            for name in sorted(added)
        }
        try:
            return of(**values)
        except InputError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InvalidValue(place, "arrays that do not fit", "train the model again") from error


def _without_alias(of: object) -> Any:
    """Return what an annotation stands for: since NumPy 2.5, `NDArray` is an alias by ``type``."""
    alias = get_origin(of) or of
    if not hasattr(alias, "__value__"):
        return of
    parameters = get_args(of)
    return _without_alias(alias.__value__[parameters] if parameters else alias.__value__)


def _wrong(place: str, wanted: str) -> InputError:
    return InvalidValue(place, f"expected {wanted}", "train the model again")
