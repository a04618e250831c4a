"""The columns of a table: what each is taken as, why, and how its values are spread.

The page asks what a table does not state before it trains: which column is to be predicted,
whether its numbers are classes, and what columns in doubt are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.preparation import ONE_HOT_LIMIT
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.named import find_column
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.tables.table_file import opened_table
from protonn_edge.data.tables.tables import RawTable
from protonn_edge.data.tables.usual_names import LABEL_NAMES
from protonn_edge.extensions.studio.actions import LISTS, LONGEST, READ
from protonn_edge.extensions.studio.dropped import PLAIN
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

_BINS, _NAMES = 12, 4
_MOST_COLUMNS = 500
_MOST_CLASSES = 64  # more numbers are hardly meant to be classes
_IN_DOUBT = "in doubt"
_AS = {"feature": "input", "one-hot": "input", "session": "session", "time": "time", _IN_DOUBT: ""}
"""What a column is for the page, by its role; with another one, it is left out."""


def options_for(read: JsonObject) -> TableOptions:
    """Return how a table is read, as the fields of a request say, checked before."""
    given = {name: read[field] for field, name in READ.items() if read.get(field)}
    lists = {READ[field]: tuple(read[field]) for field in LISTS if field in READ and field in read}
    return TableOptions(**{"missing": SHOWN} | given | lists)


def columns_of(path: Path, version: str, read: JsonObject) -> JsonObject:
    """Return the columns of a table, what they predict, and what the page ``asks`` first.

    What it need not ask is ``set``, in fields of how a table is read. Of a table that cannot be
    read in this way, there is an ``error``.
    """
    return dict(_columns_of(path, version, json.dumps(read, sort_keys=True)))


@lru_cache(maxsize=50)
def _columns_of(path: Path, version: str, read: str) -> Mapping[str, object]:
    given = json.loads(read)
    options, target = options_for(given), given.get("target") or None
    try:
        dataset = load_dataset(path, options, least_classes=1, target=target)
    except InputError as error:
        return _unjudged(path, options, str(error).replace(str(path), path.name))
    answers = [column for column in dataset.columns if column.role == "label"]
    if not answers or (len(answers) == 1 and not _is_named(answers, options)):
        return _unjudged(path, options, "")
    answer = _row(answers[0], dataset)
    is_number = len(answers) == 1 and answer["kind"] == "number"
    classes = answer["distinct"] if dataset.predicts == "value" else len(dataset.classes)
    is_many = is_number and classes > _MOST_CLASSES
    asks_kind = is_number and dataset.predicts == "class" and not target
    if asks_kind and is_many:
        found = _columns_of(path, version, json.dumps(given | {"target": "value"}, sort_keys=True))
        return {**found, "set": {**found.get("set", {}), "target": "value"}}  # type: ignore[dict-item]
    asks_kind = asks_kind and options.label is not None
    rows = [_row(each, dataset) for each in dataset.columns[:_MOST_COLUMNS]]
    doubt = [row["name"] for row in rows if row["role"] == _IN_DOUBT]
    in_doubt = {"input", ""} if options.labels else {"input", "", "label"}  # sets may be empty
    gaps = sum(row["gaps"] for row in rows if in_doubt & {row["as"], row["role"]})
    return {
        "rows": len(dataset.X_train),
        "tests": len(dataset.X_test),
        "label": ",".join(options.labels) or (answer["key"] if len(answers) == 1 else None),
        "target": None if asks_kind else dataset.predicts,
        "classes": classes,
        "is_number": is_number,
        "why": f"{classes:,} different numbers are hardly classes" if is_many else "",
        "columns": rows,
        "gaps": gaps,
        "set": {"missing": "median"} if gaps and not given.get("missing") else {},
        "doubt": doubt,
        "asks": "kind" if asks_kind else "use" if doubt else "",
    }


def _is_named(columns: Sequence[Column], options: TableOptions) -> bool:
    """Whether it is known which column is the label: it is chosen, or called so."""
    named = any(column.name.lower() in LABEL_NAMES for column in columns)
    return options.label is not None or bool(options.labels) or named


def _unjudged(path: Path, options: TableOptions, error: str) -> JsonObject:
    """Return the columns of a table whose label has to be chosen, or that has an ``error``."""
    plain = replace(PLAIN, delimiter=options.delimiter, decimal=options.decimal)
    try:
        table = RawTable.read([opened_table(path, plain)], plain)
    except InputError:
        return {"rows": 0, "columns": [], "error": error, "asks": ""}
    columns, is_named = table.columns[:_MOST_COLUMNS], _is_named(table.columns, options)
    if is_named and options.label is not None:
        try:
            find_column(table.columns, options.label, "", path)
        except InputError:  # the table was replaced by one without it
            is_named = False
    decided = dict.fromkeys((*options.keep, *options.one_hot), "input")
    decided |= dict.fromkeys(options.drop, "out")
    decided |= {options.session or "": "session", options.time or "": "time"}
    usual = {"number": ""} if is_named else {}
    roles = ("label" if key_of(each) == options.label else "" for each in columns)
    columns = [replace(each, role=role) for each, role in zip(columns, roles, strict=True)]
    rows = [
        _row(each) | {"as": decided.get(key_of(each), usual.get(each.kind, "out"))}
        for each in columns
    ]
    return {
        "rows": table.n,
        "label": options.label,
        "columns": rows,
        "error": error if is_named else "",
        "asks": "" if is_named else "column",
    }


def _row(column: Column, dataset: Dataset | None = None) -> JsonObject:
    values = np.empty(0) if column.values is None else column.values
    if dataset is not None and column.feature is not None:
        values = dataset.X_train[:, column.feature].astype(np.float64) + column.offset
    texts = [] if column.texts is None else [text.strip() for text in column.texts.texts]
    known, is_text = values[np.isfinite(values)], column.kind == "text"
    distinct = len({*texts} - {""}) if is_text else len(np.unique(known))
    few = 0 < distinct <= ONE_HOT_LIMIT and column.name != "" and not column.shares_name
    return {
        "key": key_of(column),
        "name": column.key,
        "kind": column.kind,
        "role": column.role,
        "as": _AS.get(column.role, "out"),
        "can": column.kind == "number" or (is_text and few),
        "evidence": column.evidence,
        "gaps": column.gaps,
        "distinct": distinct,
        "low": float(known.min()) if len(known) else None,
        "high": float(known.max()) if len(known) else None,
        "histogram": _histogram(known),
        "values": texts[:_NAMES] if is_text else [],
    }


def key_of(column: Column) -> str:
    """Return what names a column in a request: its name, or its number if that is none for all."""
    plain = column.name.isprintable() and len(column.name) <= LONGEST
    own = column.name not in ("", f"column {column.index + 1}") and not column.shares_name
    return column.name if own and plain else str(column.index + 1)


def _histogram(known: Array) -> list[int] | None:
    """Return how many values are in each of some equal parts of a column's range."""
    if not len(known) or not math.isfinite(float(np.ptp(known))):
        return None
    counts: list[int] = np.histogram(known, _BINS)[0].tolist()
    return counts
