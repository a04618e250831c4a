"""Find the column of labels: by its name, by its place, or by indicators of the classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice
from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.roles.indicators import codes_of, exclusive
from protonn_edge.data.roles.named import NamedColumns
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.tables.usual_names import LABEL_NAMES
from protonn_edge.system.errors import InputError, counted

_NAMED = 5  # maximum columns in a sentence
_FEW = 20  # different classes
_OF_CLASSES = 0.75  # share of files that have each class, if persons made them

Reason = Literal["time", "index", "session", "part", "answer", "empty", "text"]
"""Why a column is left out."""


class FilesOfRows(NamedTuple):
    """The files of n rows, as numbers (n,), and the classes that the files are named after."""

    files: NDArray[np.int64]
    classes: NDArray[np.int64]

    def is_varied(self, codes: NDArray[np.int64]) -> bool:
        """Whether most files have several of some values (n,)."""
        some = _pairs(self.files, codes)[:, 0]
        counts = np.unique(some, return_counts=True)[1]
        return 2 * int((counts > 1).sum()) >= len(counts)

    def is_recurring(self, codes: NDArray[np.int64], share: float = 0.0) -> bool:
        """Whether values (n,) recur in files of other classes, if there are any.

        - `share`: the least share of classes that have each value
        """
        count, n_values = len(np.unique(self.classes)), len(np.unique(codes))
        found = len(_pairs(self.classes, codes))
        return count == 1 or (found > n_values and found >= share * count * n_values)


def _pairs(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    pairs: NDArray[np.int64] = np.unique(np.stack([one, other], axis=1), axis=0)
    return pairs


@dataclass
class LabelSearch:
    """The columns of a table of n rows, and what is known of those that have no labels.

    - `expected`: what a model requires, if points are for one
    - `header`: whether columns have names
    - `begins`: where takes begin, (n,)
    - `recorded`: whether rows are consecutive samples
    - `files`: the files that rows are of, if these are named after classes; such files have no
      column of labels, unless one contradicts their names
    """

    columns: Sequence[Column]
    path: object
    options: TableOptions
    expected: Expected | None
    header: bool
    begins: NDArray[np.bool_]
    recorded: bool
    files: FilesOfRows | None

    def __post_init__(self) -> None:
        self.named = NamedColumns.of(
            self.columns, self.path, self.options, self.expected, header=self.header
        )
        self.certain: dict[Column, Reason] = {}  # columns that have certainly no labels
        self.evidence: dict[int, str] = {}  # clauses on the roles of columns, by their indices
        self.asked: list[Notice] = []  # questions about a table that is only shown

    def find(
        self, wanted: Collection[str], *, first: bool
    ) -> tuple[Column | None, str, list[Column]]:
        """Return the label's column, how it was found, and the indicators of classes without one.

        There is no column if all rows have one label.
        """
        if self.named.label is not None:
            flag = "--labels" if self.named.in_sets else "--label"
            return self.named.label, f"given by {flag}", []
        columns = [
            each
            for each in self.named.kept
            if each not in {**self.named.channels, **self.named.one_hot}
        ]
        named = [column for column in columns if column.name.lower() in LABEL_NAMES]
        if len(named) > 1:
            raise InputError(
                f"{self.path} has {len(named)} columns named label, class or target; rename all "
                "but one, or give --label NAME"
            )
        if named:
            return named[0], "by its name", []
        if self.options.labelled is not None:
            return None, "by default", []
        others = {*self.certain, *self.named.used, *(c for c in columns if c.name in wanted)}
        free = [each for each in columns if each not in others]
        if self.files is not None and not self.contradict(free, self.files):
            return None, "by default", []
        if first:
            return columns[0], "the first one", []
        return self.last_label(free, among_features=not wanted)

    def contradict(self, free: Sequence[Column], files: FilesOfRows) -> bool:
        """Return whether the last column of text, or indicators, have the classes, not the files.

        Each of most files has several of these classes then. Refuse other columns that may have
        them: text, and numbers of which there are few in a single column.
        """
        for indicators in exclusive(free):
            codes = codes_of(indicators)
            if files.is_varied(codes) and files.is_recurring(codes, _OF_CLASSES):
                return True
        few = {each: each.texts.codes for each in free if each.texts and _has_few(each)}
        few = {each: codes for each, codes in few.items() if len(np.unique(codes)) > 1}
        texts = [each for each in few if each.values is None and files.is_recurring(few[each])]
        if free and free[-1] in texts and files.is_varied(few[free[-1]]):
            return True
        numbers = [
            each
            for each, codes in few.items()
            if each.values is not None
            and not self.recorded  # in which numbers that change seldom are asked about
            and files.is_varied(codes)
            and files.is_recurring(codes, _OF_CLASSES)
        ]
        measured = any(each.kind == "number" and each not in few for each in free)
        each_one = len(np.unique(files.files)) == len(np.unique(files.classes)) > 1
        doubtful = texts or (numbers if len(numbers) == 1 and measured and each_one else [])
        for column in doubtful[:1]:
            self.ask_for_label(column, of_files=not files.is_varied(few[column]))
        return False

    def ask_for_label(self, column: Column, *, of_files: bool) -> None:
        """Refuse a column that may have the classes, or warn of it if the table is only shown.

        - `of_files`: whether files have one of its values, as those of a person have
        """
        flag, is_text = column.flag_value, column.values is None
        also = f", or with --session {flag} if they are sessions or persons"
        values = counted(len(column.names().texts), "different value")
        text = (
            f"{column.title} has {values}, which may be the classes; use them with "
            f"--label {flag}, or, if the files are named after classes, give "
            f"--{'drop' if is_text else 'keep'} {flag}{also * of_files}"
        )
        if self.options.missing != SHOWN:
            raise InputError(f"{self.path}: {text}")
        self.asked.append(Notice("label", text, True, (column.key,)))

    def last_label(
        self, free: Sequence[Column], *, among_features: bool
    ) -> tuple[Column | None, str, list[Column]]:
        """Return the last column that may have labels, or the last indicators of classes."""
        alone = self.options.normal is not None
        if self.options.target == "value" and not self.named.channels:
            # of columns that are all kept, the last one, too, since one must be the label
            numbers = self.numbers(free) or [
                each for each in self.named.kept if each.kind == "number"
            ]
            if numbers:
                return numbers[-1], "the last one of numbers", []
        if not free and alone:
            return None, "by default", []
        if not free:
            raise self.no_label()
        for indicators in exclusive(free):
            if free[-1] in indicators or not free[-1].may_be_label:
                return None, "one-hot", indicators
        if not among_features:
            which = "last" if free[1:] else "only"
            return free[-1], f"the {which} one that is not a feature", []
        if alone and (_is_measured(free[-1]) or not _has_few(free[-1])):
            return None, "by default", []
        if self.expected is None and _is_measured(free[-1]):
            last = self.named.kept[-1]
            label = last if self.certain.get(last) == "time" and last.may_be_label else free[-1]
            others = [each for each in free if each is not label and not self.is_of_units(each)]
            counts = bool(self.evidence.get(label.index))
            raise label_refusal(self.path, label, others, counts=counts, recorded=self.recorded)
        return free[-1], "the last one", []

    def is_of_units(self, column: Column) -> bool:
        """Whether a column changes just where a time or a counter begins again."""
        changes = np.flatnonzero(np.diff([] if column.texts is None else column.texts.codes))
        steps = [np.diff(each.values) for each in self.certain if each.values is not None]
        again = [np.flatnonzero(each * np.median(each) < 0) for each in steps if len(each)]
        return len(changes) > 0 and any(np.array_equal(each, changes) for each in again)

    def numbers(self, free: Sequence[Column] = ()) -> list[Column]:
        """Return the columns of numbers that are free or, without any, those that only count."""
        kept = [each for each in self.named.kept if each.kind == "number"]
        counting = [each for each in kept if self.certain.get(each) in ("time", "index")]
        return [each for each in kept if each in free] or counting

    def no_label(self) -> InputError:
        """Return the error if no column may have labels, with the columns that only count."""
        counting = self.numbers()
        remedy = "add a column of labels, or name the column with --label NAME"
        if counting[1:] and not self.named.by_option:
            *features, label = counting
            names = ",".join(each.flag_value for each in features)
            text = " and ".join(
                f"{each.title} ({self.evidence.get(each.index, '')})" for each in counting[:_NAMED]
            )
            remedy = (
                f"{text} were left out; if these are measurements, use "
                f"--label {label.flag_value} --keep {names}"
            )
        return InputError(f"{self.path} has no column of labels besides the features; {remedy}")


def _is_measured(column: Column) -> bool:
    """Whether a column has numbers that are no classes, or only one."""
    alone = column.texts is not None and len(column.texts.texts) == 1
    return column.kind == "number" and (not column.is_whole or alone)


def _has_few(column: Column) -> bool:
    """Whether a column may have classes, of which there are few."""
    return column.may_be_label and column.texts is not None and len(column.texts.texts) <= _FEW


def label_refusal(
    path: object, label: Column, columns: Iterable[Column], *, counts: bool, recorded: bool
) -> InputError:
    """Return the error for a last column without classes, naming columns that may have some.

    - `counts`: whether its numbers are those of a time or a counter
    """
    has = f"only the value {label.example}"
    if counts:
        has = f"numbers such as {label.example} instead of classes"
    if not label.is_whole and label.values is not None:
        fractions = label.values[np.nan_to_num(label.values) % 1 != 0]
        has = f"numbers such as {fractions[0]:g} instead of classes"
    may_be = sorted((each for each in columns if each.may_be_label), key=lambda e: e.kind != "text")
    likely = [each.flag_value for each in may_be]
    hint = f", such as --label {likely[0]}" if likely else ""
    others = f" (or {', '.join(likely[1:6])})" if likely[1:] else ""
    other = (
        f"predict these numbers with --label {label.flag_value}, or, if all rows are of one "
        "class, train with --one-class"
    )
    if recorded:
        other = "put the file into a folder with a file for each class, called like the class"
    return InputError(
        f"{path} has no column called label, class or target, and its last one, {label.title}, "
        f"contains {has[:80]}; name the column of labels with --label NAME{hint}{others}, or "
        f"{other}"
    )
