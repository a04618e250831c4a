"""Cells of a text table that are not numbers: gaps, which can be filled, and errors.

`Preparation` decides what fills the gaps of training points; a model records these values, which
also fill tables for the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import Decimals, is_label
from protonn_edge.datasets.dataset import Float32
from protonn_edge.datasets.naming import Notice, label_text, listed, quoted
from protonn_edge.datasets.options import SHOWN
from protonn_edge.datasets.preparation import (
    DROP,
    FILLED,
    FILLINGS,
    MISSING,
    Preparation,
    values_of,
)
from protonn_edge.datasets.rules import Column, Expected, Roles
from protonn_edge.errors import InputError, counted

_SHOWN = 6  # maximum columns in a sentence
_REMEDY = (
    "use --missing drop to omit rows with gaps, or fill the gaps with --missing median or "
    "--missing most-frequent"
)
_REMEDY_OF_MODEL = (
    "the model has no values for gaps, so fill the gaps in the file, or use --missing drop"
)


@dataclass
class Place:
    """The number of cells of one sort in a column, and the place of the first one."""

    count: int
    line: int
    cell: str


class Numbers:
    """The features of a table, read block by block, and the cells that are not numbers."""

    def __init__(self, columns: Sequence[Column], texts: Sequence[Column], delimiter: str) -> None:
        self.columns, self.texts = columns, texts
        self.decimals = Decimals(delimiter)
        self.gaps: dict[Column, Place] = {}
        self.others: dict[Column, Place] = {}
        self._blocks: list[Float32] = []

    def add(self, block: Sequence[tuple[int, list[str]]], cells: Iterable[Iterable[str]]) -> None:
        """Read some rows, with their line numbers; `cells` are those to read as numbers."""
        shape = len(block), len(self.columns)
        read, others = self.decimals.read(list(chain.from_iterable(cells)))
        values = read.reshape(shape)
        self._blocks.append(values)
        for column in self.texts:
            empty = [i for i, (_, row) in enumerate(block) if not row[column.index].strip()]
            _note(self.gaps, column, block, empty)
        missing = np.isnan(values)
        if not missing.any():
            return
        unreadable = np.zeros(values.size, np.bool_)
        unreadable[others] = True
        unreadable = unreadable.reshape(shape)
        for index in np.flatnonzero(missing.any(axis=0)).tolist():
            for places, which in (
                (self.gaps, missing[:, index] & ~unreadable[:, index]),
                (self.others, unreadable[:, index]),
            ):
                _note(places, self.columns[index], block, np.flatnonzero(which).tolist())

    def features(self, roles: Roles, preparation: Preparation) -> tuple[Float32, tuple[str, ...]]:
        """Return the features (n, D), including those from columns of text, and their names."""
        empty = np.empty((0, len(self.columns)), dtype=np.float32)
        X = np.concatenate(self._blocks or [empty])
        if not self.texts:
            return X, tuple(column.name for column in roles.features)
        numbers, parts = iter(X.T[:, :, None]), []
        names: list[str] = []
        for column in roles.features:
            is_text = column in self.texts
            parts.append(
                preparation.indicators(column.name, column.cells) if is_text else next(numbers)
            )
            names += preparation.names_of(column.name)
        return np.hstack(parts), tuple(names)

    def refuse(self, path: Path, remedy: str) -> None:
        """Refuse cells that are no numbers, and gaps if the message has a remedy for them."""
        for places, is_refused in ((self.others, True), (self.gaps, remedy)):
            if places and is_refused:
                column, first = min(places.items(), key=lambda each: each[1].line)
                where = f"{path}:{first.line} has {quoted(first.cell)} in {column.title}"
                if places is self.gaps:
                    raise InputError(
                        f"{where} (this is a gap; all gaps: {counts(places)}); {remedy}"
                    )
                problem = self.decimals.problem(first.cell)
                if first.line == 1 and not column.name:
                    problem += " (if line 1 has the names of columns, none may be a number)"
                also = f" (such cells: {counts(places)})" if len(places) > 1 else ""
                raise InputError(f"{where}{also}, {problem}")


def _note(
    places: dict[Column, Place],
    column: Column,
    block: Sequence[tuple[int, list[str]]],
    rows: Sequence[int],
) -> None:
    if rows:
        line, row = block[rows[0]]
        places.setdefault(column, Place(0, line, row[column.index].strip())).count += len(rows)


def counts(places: Mapping[Column, Place]) -> str:
    """Return the numbers of such cells in the columns with the most of them, for a message."""
    ranked = sorted(places.items(), key=lambda each: -each[1].count)
    shown = [f"{place.count:,} in {column.title}" for column, place in ranked[:_SHOWN]]
    more = len(ranked) - len(shown)
    return ", ".join(shown) + (f" and others in {counted(more, 'more column')}" if more else "")


@dataclass(frozen=True, eq=False)
class Prepared:
    """The features of a table (n, D), their preparation, and the rows kept, None for all."""

    X: Float32
    names: tuple[str, ...]
    preparation: Preparation | None
    gaps: NDArray[np.bool_] | None
    kept: NDArray[np.bool_] | None
    notices: tuple[Notice, ...]


def prepared(
    numbers: Numbers, roles: Roles, path: Path, missing: str, expected: Expected | None
) -> Prepared:
    """Return the features of a table, with gaps filled by `expected` or from the rows."""
    given = None if expected is None else expected.preparation
    shown, drops = missing == SHOWN, missing == DROP
    if not shown:
        fillable = expected is None or (given is not None and given.values)
        remedy = _REMEDY if fillable else _REMEDY_OF_MODEL
        numbers.refuse(path, "" if drops or missing in FILLED else remedy)
    preparation = given or Preparation(
        missing if missing in (DROP, *FILLINGS) else "",
        one_hot={each.name: values_of(each.name, each.cells) for each in numbers.texts},
    )
    notices = list(_new_texts(numbers, preparation))
    X, names = numbers.features(roles, preparation)
    empty = np.isnan(X)
    kept = None
    if drops or shown:
        kept = np.ones(len(X), np.bool_)
        if roles.label is not None:
            kept = np.array([is_label(cell) for cell in roles.label.cells], np.bool_)
            if not kept.all():
                numbers.gaps[roles.label] = Place(int((~kept).sum()), 0, "")
        kept &= not drops or ~empty.any(axis=1)
        X, empty = X[kept], empty[kept]
    notices += _notices(numbers, missing, kept)
    if missing in FILLED:
        if given is None and len(X):
            preparation = preparation.learned(X, names)
        X = preparation.fill(X) if empty.any() else X
        if (left := np.flatnonzero(np.isnan(X).any(axis=0))).size:
            raise InputError(
                f"{path} has gaps in {listed(names[i] or str(i + 1) for i in left)}, for which the "
                "model learned no values; use --missing drop to leave out rows with gaps"
            )
    is_plain = preparation == Preparation()
    return Prepared(
        X,
        names,
        None if is_plain else preparation,
        empty if empty.any() else None,
        None if kept is None or kept.all() else kept,
        tuple(notices),
    )


def _new_texts(numbers: Numbers, preparation: Preparation) -> Iterator[Notice]:
    """Yield a warning for each column of text with values that were not in training rows."""
    for column in numbers.texts:
        trained = {"", *preparation.one_hot[column.name]}
        new = [text for text in map(label_text, column.cells) if text not in trained]
        if new:
            text = (
                f"{column.title} has {counted(len(new), 'cell')} with values that were not in the "
                f"training data ({listed(dict.fromkeys(new))}); in these rows, all features of the "
                "column are 0"
            )
            yield Notice("new_texts", text, warning=True, columns=(column.name,))


def checked_missing(missing: str | None, path: Path, expected: Expected | None) -> str:
    """Return how gaps in a table are treated; refuse treatments that a model cannot repeat."""
    recorded = None if expected is None else expected.preparation
    if missing is None:
        return (recorded and recorded.missing) or "error"
    if missing not in (*MISSING, SHOWN):
        raise InputError(f"--missing is {missing[:40]!r}; give one of {', '.join(MISSING)}")
    if missing not in FILLINGS or expected is None:
        return missing
    if recorded is None or not recorded.values:
        raise InputError(f"{path} cannot be read with --missing {missing}: {_REMEDY_OF_MODEL}")
    return recorded.missing  # what fills them in any case


def _notices(numbers: Numbers, missing: str, kept: NDArray[np.bool_] | None) -> Iterator[Notice]:
    """Yield a notice for each treatment of cells that are not numbers."""
    for column, place in numbers.others.items():
        text = (
            f"{column.title} has {counted(place.count, 'cell')} without a number, such as "
            f"{quoted(place.cell)} on line {place.line:,}"
        )
        yield Notice("unreadable", text, warning=True, columns=(column.name,))
    names = tuple(column.name or str(column.index + 1) for column in numbers.gaps)
    if kept is not None and not kept.all():
        count = int((~kept).sum())
        text = f"left out: {count:,} of {len(kept):,} rows, because they have gaps or no label"
        yield Notice("missing", text, columns=names)
    if numbers.gaps and missing != DROP:
        text = f"gaps filled with the {missing.replace('-', ' ')} value: {counts(numbers.gaps)}"
        if missing == SHOWN:
            text = f"gaps: {counts(numbers.gaps)}; {_REMEDY}"
        yield Notice("missing", text, warning=missing == SHOWN, columns=names)
