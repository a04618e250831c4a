"""Tables of what code declares, for the reference: arrays of model files, and messages.

The meaning of a field is the comment beside it or right above it, or what its class's docstring
says of the attribute.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np

from protonn_edge.data.points.instruments import ARRAYS as INSTRUMENT
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.device.protocol import Message, messages
from protonn_edge.model import file, stored
from protonn_edge.model.expected_answers import ExpectedAnswers
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.features import Features
from protonn_edge.model.head import Head
from protonn_edge.model.model import Model
from protonn_edge.model.registry import _STAGE_FOLDERS, HEADS, stage_class
from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.model.statistics import InputStatistics, Normalizer

_ATTRIBUTE = re.compile(r"^(\w+) : .*\n((?:    .*\n?)+)", re.MULTILINE)
_CODES = {"B": "u8", "H": "u16", "I": "u32", "*B": "u8 each", "*h": "i16 each", "*i": "i32 each"}
# arrays that no class declares
_WHOLE = {
    "format_version": f"currently {file.FORMAT_VERSION}; other versions are refused",
    "head": "JSON: the kind, and the numbers among its fields",
    "features": "JSON: the form of raw points, and the stages that compute features",
    "activity": "of earlier versions; not read",
}


class Row(NamedTuple):
    """An array of a file, whose parts that repeat have the number N, and what it contains."""

    name: str
    type: str
    meaning: str


@cache
def meanings(of: type) -> dict[str, str]:
    """Return what is said of each field of a class, by name."""
    found: dict[str, str] = {}
    for each in reversed(of.__mro__):
        if each.__module__.startswith("protonn_edge."):
            attributes = _ATTRIBUTE.findall(inspect.getdoc(each) or "")
            said = {name: " ".join(text.split()) for name, text in attributes}
            said |= _commented(inspect.cleandoc(f"\n{inspect.getsource(each)}"))
            found |= {name: _with_values(text, each) for name, text in said.items()}
    return found


def _with_values(text: str, of: type) -> str:
    """Return a text with the values of the constants that it names."""
    known = vars(importlib.import_module(of.__module__))

    def value(name: re.Match[str]) -> str:
        given = known.get(name[1])
        if isinstance(given, dict):
            return ", ".join(f"{number} {key}" for key, number in given.items())
        return str(given) if isinstance(given, int | float) else name[0]

    return re.sub(r"`([A-Z_]{2,})`", value, text).rstrip(".")


def _commented(source: str) -> dict[str, str]:
    """Return the comments on the fields of a class, the one above first."""
    tokens = [*tokenize.generate_tokens(io.StringIO(source).readline)]
    comments = {
        each.start[0]: each.string.lstrip("# ") for each in tokens if each.type == tokenize.COMMENT
    }
    alone = {line for line in comments if source.splitlines()[line - 1].lstrip().startswith("#")}
    (body,) = (node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    found: dict[str, str] = {}
    for node in (each for each in body if isinstance(each, ast.AnnAssign)):
        first = node.lineno
        while first - 1 in alone:
            first -= 1
        lines = range(first, (node.end_lineno or first) + 1)
        found[ast.unparse(node.target)] = " ".join(comments[n] for n in lines if n in comments)
    return {name: text for name, text in found.items() if text}


# --- model files ---------------------------------------------------------------------------------


def arrays() -> dict[str, list[Row]]:
    """Return the arrays of all model files: of each, of kinds of classifiers, and of features."""
    heads = {kind: list(_of_fields(head, "head")) for kind, head in HEADS.items()}
    stages = {kind: stage_class(kind) for kind in _STAGE_FOLDERS}
    own = {kind: each for kind, each in stages.items() if issubclass(each, FeatureStage)}
    place = "features.stages.N"
    computed = (row for kind, each in own.items() for row in _of_fields(each, place, kind))
    points = _of_fields(get_type_hints(Features)["points"], "features.points")
    return {"every model": [*_of_all()], **heads, "features": [*points, *computed]}


def _of_all() -> Iterator[Row]:
    """Yield the arrays that do not depend on the kind of classifier or feature."""
    owners = {"normalizer": Normalizer, "inputs": InputStatistics}
    for name in (*file._ARRAYS, "features", "activity", *INSTRUMENT):
        owner, _, field = name.partition("_")
        of, own = (owners[owner], field) if owner in owners else (Model, name)
        of = Instrument if name in INSTRUMENT else of
        yield Row(name, "", _WHOLE.get(name) or meanings(of)[own])
    for kind in rule_kinds():
        rule = kind.rule()
        parts = (_part(rule, each.name) for each in fields(rule))
        yield Row(kind.array, "float64", f"the rule `{kind.name}`: {'; '.join(parts)}")
    parts = (_part(ExpectedAnswers, each.name) for each in fields(ExpectedAnswers))
    yield Row(ExpectedAnswers.array, "float64", "; ".join(parts))


def _part(of: type, name: str) -> str:
    meaning = meanings(of).get(name)
    return f"`{name}` ({meaning})" if meaning else f"`{name}`"


def _of_fields(of: type, place: str, note: str = "") -> Iterator[Row]:
    """Yield the arrays among the fields of a class, and of the classes in it."""
    hints = get_type_hints(of)
    for each in stored.stored_fields(of):
        yield from _of_hint(of, each.name, hints[each.name], place, note)


def _of_hint(of: type, name: str, hint: Any, place: str, note: str) -> Iterator[Row]:
    place = f"{place}.{name}"
    inner = [one for one in get_args(hint) if one is not type(None)]
    if dtype := _dtype_of(hint):
        member = next((each for each in fields(of) if each.name == name), None)
        given = member.metadata.get("member") if member else None
        letter = f"{given.symbol} ({', '.join(given.axes)})" if given and given.axes else ""
        text = meanings(of).get(name) or letter
        yield Row(place, dtype, f"{note}: {text}" if note else text)
    elif getattr(hint, "__origin__", None) is tuple:
        for one in dict.fromkeys(each for each in inner if each is not ...):
            for row in _of_hint(of, name, one, place.removesuffix(f".{name}"), note):
                yield row._replace(name=row.name.replace(place, f"{place}.N", 1))
    elif hint in (Head, Features, Normalizer, InputStatistics):
        yield Row(f"{place}.*", "", "as in a model of its own")
    elif is_dataclass(hint):
        yield from _of_fields(hint, place, note)
    else:
        for one in inner:
            yield from _of_hint(of, name, one, place.removesuffix(f".{name}"), note)


def _dtype_of(hint: Any) -> str:
    """Return the type of the numbers of an array's annotation, "" of any other annotation."""
    if getattr(hint, "__origin__", None) is not np.ndarray:
        return ""
    (number,) = get_args(get_args(hint)[1])
    return "floats" if number is Any else str(number.__name__)


# --- messages ------------------------------------------------------------------------------------


def every_message() -> list[type[Message]]:
    """Return the messages of the protocol and of boards that read a sensor, by their types."""
    with suppress(ImportError):  # if the extension is missing
        importlib.import_module("protonn_edge.extensions.sensing.sensor_board")
    known = {*messages(), *Message.declared}
    own = (each for each in known if each.__module__.startswith("protonn_edge."))
    return sorted(own, key=lambda each: (each.TYPE, len(each.__mro__)))


def payload(message: type[Message]) -> str:
    """Return the fields of a message, in their order."""
    hints = get_type_hints(message, include_extras=True)
    parts = []
    for each in fields(message):  # type: ignore[arg-type]
        code = hints[each.name].__metadata__[0]
        size = _CODES.get(code) or ("bytes" if code == "*s" else f"{code.rstrip('s')} bytes")
        meaning = meanings(message).get(each.name, "")
        parts.append(f"`{each.name}` {size}" + (f": {meaning}" if meaning else ""))
    return "; ".join(parts) or "none"


# --- Markdown ------------------------------------------------------------------------------------


def table_of_messages() -> str:
    """Return the table of all messages."""
    rows = (
        f"| `{each.TYPE:02X}` | {each.NAME} | {_line(each)} | {_escaped(payload(each))} |"
        for each in every_message()
    )
    return "\n".join(["| type | message | meaning | payload |", "|---|---|---|---|", *rows])


def tables_of_arrays() -> str:
    """Return the tables of all arrays, with a heading each."""
    return "\n\n".join(_table(title, rows) for title, rows in arrays().items())


def _table(title: str, rows: Iterable[Row]) -> str:
    lines = (f"| `{row.name}` | {row.type} | {_escaped(row.meaning)} |" for row in rows)
    head = [f"### Arrays of {title}", "", "| array | type | content |", "|---|---|---|"]
    return "\n".join([*head, *lines])


def _line(message: type[Message]) -> str:
    return _with_values((inspect.getdoc(message) or "").partition("\n")[0], message)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")
