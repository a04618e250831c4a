"""The columns of a table: what each is taken as, why, and how its values are spread."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from protonn_edge.data.columns import Column
from protonn_edge.data.dataset import Dataset
from protonn_edge.data.delimiters import delimiter_in
from protonn_edge.data.leaks import leaks
from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.reading import load_dataset
from protonn_edge.extensions.studio.words import in_words
from protonn_edge.report.data_summary import profile
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

_BINS, _NAMES = 12, 8
_MOST_COLUMNS, _LINE_LETTERS = 500, 100_000
_IN_DOUBT = "in doubt"
_USED = {"feature": True, _IN_DOUBT: None}

FIELDS = ("column", "keep_columns", "drop", "target", "missing", "size")
"""The fields of a request that say how a table is read."""


def options_for(read: JsonObject) -> TableOptions:
    """Return how a table is read, as the fields of a request say, checked before."""
    return TableOptions(
        label=read.get("column") or None,
        keep=tuple(read.get("keep_columns", ())),
        drop=tuple(read.get("drop", ())),
        missing=read.get("missing") or SHOWN,
    )


def columns_of(path: Path, version: str, read: JsonObject) -> JsonObject:
    """Return the columns of a table, and what they predict.

    If no column is the label for sure, it is the last one. Of a table that cannot be read in this
    way, there is an ``error``, and only the names of the columns.
    """
    return dict(_columns_of(path, version, json.dumps(read, sort_keys=True)))


@lru_cache(maxsize=50)
def _columns_of(path: Path, _: str, read: str) -> JsonObject:
    given = json.loads(read)
    options, target = options_for(given), given.get("target") or None
    try:
        try:
            dataset = load_dataset(path, options, least_classes=1, target=target)
        except InputError as error:
            if options.label is not None:
                raise
            with_last = replace(options, label="last")
            try:
                dataset = load_dataset(path, with_last, least_classes=1, target=target)
            except InputError:
                raise error from None
    except InputError as error:
        none = {"rows": 0, "gaps": 0, "doubt": [], "notices": [], "can": {}, "label": None}
        sentence = in_words(str(error).replace(str(path), path.name))
        return none | {"columns": _unread(path), "error": sentence}
    rows = [_row(each, dataset) for each in dataset.columns[:_MOST_COLUMNS]]
    label = next((row for row in rows if row["role"] == "label"), None)
    notices = [*dataset.notices, *leaks(dataset)]
    distinct = None if label is None else label["distinct"]
    return {
        "rows": len(dataset.X_train),
        "tests": len(dataset.X_test),
        "label": None if label is None else label["name"],
        "target": dataset.predicts,
        "classes": len(dataset.classes) if dataset.predicts == "class" else distinct,
        "can": {"value": bool(label and label["kind"] == "number"), "classes": distinct},
        "columns": rows,
        "gaps": sum(row["missing"] for row in rows if row["used"] is not False),
        "doubt": [row["name"] for row in rows if row["role"] == _IN_DOUBT],
        "notices": [{**asdict(one), "text": in_words(one.text)} for one in notices],
    }


def _unread(path: Path) -> list[JsonObject]:
    """Return the columns by their names alone, as far as the first line has some."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            line = file.readline(_LINE_LETTERS)
        names = next(csv.reader([line], delimiter=delimiter_in([line], ",")), [])
    except (OSError, csv.Error):
        return []
    return [
        {"name": name, "number": at, "role": "", "used": None, "evidence": "", "histogram": None}
        for at, name in enumerate(names[:_MOST_COLUMNS], 1)
        if name
    ]


def _row(column: Column, dataset: Dataset) -> JsonObject:
    known = asdict(profile(column, dataset))
    low, high = known.pop("minimum"), known.pop("maximum")
    names = [] if column.texts is None else [text.strip() for text in column.texts.texts[:_NAMES]]
    return {
        **known,
        "name": column.key,
        "used": _USED.get(column.role, False),
        "low": low,
        "high": high,
        "histogram": _histogram(column, dataset),
        "values": names if column.kind == "text" else [],
    }


def _histogram(column: Column, dataset: Dataset) -> list[int] | None:
    """Return how many values are in each of some equal parts of a column's range."""
    values = column.values if column.feature is None else dataset.X_train[:, column.feature]
    if values is None or column.kind == "text":
        return None
    known = values[np.isfinite(values)].astype(np.float64)
    if not len(known) or not math.isfinite(float(np.ptp(known))):
        return None
    counts: list[int] = np.histogram(known, _BINS)[0].tolist()
    return counts
