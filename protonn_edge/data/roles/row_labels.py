"""The labels of a table's rows: of a column, of indicators, or of the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed
from protonn_edge.data.options import TableOptions
from protonn_edge.data.roles.indicators import codes_of
from protonn_edge.data.roles.roles import Roles
from protonn_edge.data.tables.cells import is_label
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.tables.tables import RawTable
from protonn_edge.system.errors import InputError

# Labels in single rows: the most of them in a row after another one, and the chance of such places.
_PAIRS, _CHANCE = 0.05, 0.05


@dataclass(frozen=True)
class RowLabels:
    """Where the labels of rows are."""

    raw: RawTable
    roles: Roles
    options: TableOptions
    of_files: Sequence[str] | None  # the label of each file, unless it has a column of labels

    def texts(self) -> Coded:
        """Return the labels of rows; those of gaps are the background's, or empty."""
        roles, gap = self.roles, self.options.background or ""
        if roles.indicators:
            names = [each.feature_name for each in roles.indicators]
            return Coded(codes_of(roles.indicators), names).merged()
        if roles.label is None:
            alone = str(self.options.labelled or self.options.normal)
            counts = np.diff([*self.raw.begins, self.raw.n]).tolist()
            own = self.of_files or [alone] * len(counts)
            return Coded.repeated(zip(own, counts, strict=True))
        found = roles.label.names()
        codes, texts = found.codes.copy(), [each if is_label(each) else gap for each in found.texts]
        for rows, name in self._of_files(roles.label):
            codes[rows] = len(texts)
            texts.append(name)
        return Coded(codes, texts).merged()

    def _of_files(self, label: Column) -> Iterator[tuple[slice, str]]:
        """Yield the rows of files that lack the column of labels, and the files' own labels."""
        ends = [*self.raw.begins[1:], self.raw.n]
        for place, name in enumerate(self.of_files or ()):
            if label.name not in self.raw.files[place].names:
                yield slice(self.raw.begins[place], ends[place]), name

    def notices(self) -> Iterator[Notice]:
        """Yield the notice about an unnamed label; refuse numbers that are not classes."""
        roles, label = self.roles, self.roles.label
        if roles.indicators:
            names = listed(column.feature_name for column in roles.indicators)
            text = f"exactly one of {names} is 1 in each row, so these columns are the classes; "
            text += "--label NAME names another column"
            if self._are_files_named:
                names = ",".join(column.flag_value for column in roles.indicators)
                text += f"; if the files are named after classes, give --keep {names}"
            keys = tuple(column.key for column in roles.indicators)
            yield Notice("label", text, warning=True, columns=keys)
        if label is None and self.of_files is None and self.options.normal is not None:
            text = f"no column may have classes, so all rows are {self.options.normal!r}"
            yield Notice("label", text)
        if label is None or not roles.label_found.startswith("the last") or not self.raw.n:
            return
        hint = self._hint(label)
        if self._are_files_named:
            hint += (
                ", and not those that files are named after; if these are, leave the column out "
                f"with --drop {label.flag_value}"
            )
        text = f"the labels are in {label.title}, {roles.label_found}{hint}"
        yield Notice("label", text, bool(hint), (label.key,))

    @property
    def _are_files_named(self) -> bool:
        """Whether files have several names that could be those of classes."""
        return self.of_files is not None and len(set(self.of_files)) > 1

    def _hint(self, label: Column) -> str:
        """Return which other column may have the labels, as a clause, or nothing."""
        first = self.roles.features[0]
        varies = first.texts is not None and len(first.texts.texts) > 1
        if label.kind == "number" and first.index == 0 and first.may_be_label and varies:
            return "; if the first column is the label, use --label first"
        flags = () if self.options.one_hot else self.roles.one_hot
        others = [each for each in (*self.roles.of("text"), *flags) if each.may_be_label]
        if not others:
            return ""
        return f"; if {others[0].title} is the label, use --label {others[0].flag_value}"

    def missing(self) -> NDArray[np.bool_]:
        """Return which rows (n,) have no label."""
        label = self.roles.label
        if label is None:
            return np.zeros(self.raw.n, np.bool_)
        names = label.names()
        missing: NDArray[np.bool_] = (
            names.numbers(dict.fromkeys(filter(is_label, names.texts), 1), 0) == 0
        )
        for rows, _ in self._of_files(label):
            missing[rows] = False
        return missing

    def refuse_missing(self, *, dropped: bool, recorded: bool) -> None:
        """Raise `InputError` for the first row without a label, unless such rows are dropped.

        If only single rows have labels, as with merged cells, most rows would be dropped.
        """
        label, missing = self.roles.label, self.missing()
        if label is None:
            return
        if _are_single(~missing, recorded=recorded) and (recorded or not _is_measured(label)):
            end = "the end of its event" if missing[0] else "the next one"
            alone = "" if recorded else ", or, if only these rows are points, delete the others"
            raise InputError(
                f"{self.raw.files[0].path} has labels in column {label.index + 1} in single rows "
                f"only ({(~missing).sum():,} of {len(missing):,}), as merged cells give them; "
                f"repeat each label in all rows up to {end}{alone}"
            )
        for row in np.flatnonzero(missing & (not dropped)).tolist():
            cell = label.names()[row]
            text = f"has {cell!r}, which is not a label," if cell else "has no label"
            raise InputError(
                f"{self.raw.place(row)} {text} in column {label.index + 1}; correct or drop the "
                "row, use --missing drop or, with 'windows', use --background to name a class "
                "for rows without a label"
            )


def _are_single(there: NDArray[np.bool_], *, recorded: bool) -> bool:
    """Whether labels (n,) are in single rows: in a table, from the first row on, not by chance."""
    n, m = len(there), int(there.sum())
    pairs = int((there[1:] & there[:-1]).sum())
    if 2 * m >= n or m < 2 or pairs > _PAIRS * m:
        return False
    by_chance = m / n * np.exp(-m * m / n)  # that the first row has one, and no two in a row have
    return recorded or bool(there[0] and by_chance < _CHANCE)


def _is_measured(label: Column) -> bool:
    return label.kind == "number" and not label.is_whole
