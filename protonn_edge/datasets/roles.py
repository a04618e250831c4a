"""Judge the role of each column of a table by what is in it.

1. A column is text, dates or numbers by its cells, also numbers with a unit or a key attached. A
   column without any value is empty.
2. Options give roles first. The label is the column called ``label``, ``class`` or ``target``;
   else the last one that may have classes, or columns of which exactly one is 1 in each row.
3. Left out are dates, text, and what `protonn_edge.datasets.behaviour` finds to be a time, a
   counter or an identifier. What may also be a measurement, and numbers that copy the label, must
   be named by an option: the table is refused with the ways on. The usual names of such columns
   decide where their numbers do not.
4. All other columns are features.

A model's own columns are found by name and not judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets import naming
from protonn_edge.datasets.behaviour import (
    SESSION_LIKE,
    Behaviour,
    alternates,
    are_devices,
    behaviour_of,
    is_copy,
)
from protonn_edge.datasets.clock import is_clock
from protonn_edge.datasets.columns import Column
from protonn_edge.datasets.indicators import codes_of, exclusive
from protonn_edge.datasets.inside_texts import numbers_inside
from protonn_edge.datasets.named import NamedColumns
from protonn_edge.datasets.naming import Notice, listed, quoted
from protonn_edge.datasets.options import SHOWN, TableOptions
from protonn_edge.datasets.preparation import ONE_HOT_LIMIT
from protonn_edge.datasets.units import split_unit
from protonn_edge.datasets.usual_names import (
    ANSWER,
    DEVICE,
    DEVICES,
    INDEX,
    LABEL_NAMES,
    PART,
    PERSON,
    SESSION,
    is_called_as_time,
)
from protonn_edge.errors import InputError, counted

if TYPE_CHECKING:
    from protonn_edge.datasets.dataset import Table
    from protonn_edge.datasets.division import Division
    from protonn_edge.datasets.instruments import Converter, Instrument
    from protonn_edge.datasets.preparation import Preparation

_NAMED = 5  # maximum columns in a sentence
_FEW = 20  # different sessions or devices
_SELDOM = 8  # rows per change of a label that marks takes
_SELDOM_TEXT = "its texts change seldom"
_OF_CLASSES = 0.75  # share of files that have each class, if persons made them

Reason = Literal["time", "index", "session", "part", "answer", "empty", "text"]
_WHY: dict[Reason, str] = {
    "time": "a time",
    "index": "an index",
    "session": "a session, person or device",
    "part": "parts for training and testing, which are not used",
    "answer": "an answer that 'predict' wrote",
    "empty": "empty",
    "text": "text",
}


@dataclass(frozen=True)
class Expected:
    """The requirements of a model for a table, or of a training part for its test part.

    Its D features and classes, whether points need labels (ignored otherwise), the preparation of
    its columns, the division of its training file, and the instrument and the rate of windows, if
    known.
    """

    n_features: int
    feature_names: tuple[str, ...] = ()
    classes: Sequence[str] = ()
    instrument: Instrument | None = None
    labelled: bool = True
    preparation: Preparation | None = None
    division: Division | None = None
    sample_rate: float | None = None
    predicts: str = "class"  # what labels are: "class", "value", a number, or "labels", a set
    # the ends (D,) of the range of the training data; None if values outside are not clamped, or on
    # purpose
    limits: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    # returns points (n, D) of another instrument in the unit of the training data, with notices;
    # None if a board with this instrument does not convert them
    converted: Converter | None = None

    @classmethod
    def of_training(cls, train: Table) -> Self:
        """Return the requirements of a training part for its test part."""
        return cls(
            train.X.shape[1],
            train.feature_names,
            sorted(set(train.labels)),
            preparation=train.preparation,
        )

    @property
    def label(self) -> str:
        """The column of labels of the training file; empty if unknown."""
        return "" if self.division is None else self.division.label


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
class Roles:
    """The label (None if all rows have the same) and how it was found, the features, the others."""

    label: Column | None
    label_found: str
    features: list[Column] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    left_out: dict[Column, Reason] = field(default_factory=dict)
    one_hot: Collection[Column] = ()  # columns of text that become features
    indicators: Sequence[Column] = ()  # of the classes, if these are the label

    def of(self, reason: Reason) -> list[Column]:
        """Return the columns that are left out for a reason."""
        return [column for column, each in self.left_out.items() if each == reason]


def roles_of(
    columns: Sequence[Column],
    path: object,
    options: TableOptions,
    expected: Expected | None = None,
    *,
    header: bool,
    begins: NDArray[np.bool_],
    label_first: bool = False,
    recorded: bool = False,
    files: FilesOfRows | None = None,
) -> Roles:
    """Return the roles of columns of n rows; takes begin at some rows (n,).

    Without a header, columns have no names, and the label may be in the first column. If points are
    for a model, it expects certain features. Rows of a table that is `recorded` are consecutive
    samples. Files that are named after classes have no column of labels, unless one contradicts
    their names.

    Raises `InputError` if options name no column, or if the role of a column is in doubt.
    """
    judge = _Judge(columns, path, options, expected, header, begins, recorded, files)
    return judge.roles(label_first=label_first and not header)


@dataclass
class _Judge:
    columns: Sequence[Column]
    path: object
    options: TableOptions
    expected: Expected | None
    header: bool
    begins: NDArray[np.bool_]
    recorded: bool
    files: FilesOfRows | None

    def roles(self, *, label_first: bool) -> Roles:
        expected = self.expected
        self.named = NamedColumns.of(
            self.columns,
            self.path,
            self.options,
            None if expected is None else expected.preparation,
            for_model=expected is not None,
            header=self.header,
        )
        kept, one_hot = self.named.kept, self.named.one_hot
        wanted = expected.feature_names if expected is not None and self.header else ()
        if expected is not None and not expected.labelled:
            rest = [column for column in kept if column is not self.named.label]
            if wanted or len(rest) == expected.n_features:
                return Roles(None, "not needed", *self.in_order(rest, wanted), {}, one_hot)
        self.behaviours: dict[Column, Behaviour] = {}
        self.asked: list[Notice] = []
        certain = {each: reason for each in kept if (reason := self.certainly(each))}
        certain |= self.named.by_option
        self.certain = {each: certain[each] for each in certain if each not in self.named.used}
        label, how, indicators = self.label(frozenset(wanted), first=label_first)
        rest = [each for each in kept if each is not label and each not in indicators]
        if wanted or (expected is not None and len(rest) == expected.n_features):
            features, notices = self.in_order(rest, wanted)
            return Roles(label, how, features, notices, {}, one_hot, indicators)
        roles = Roles(label, how, notices=self.asked, one_hot=one_hot, indicators=indicators)
        self.judge(rest, roles)
        for column, new in self.named.channels.items():
            column.rename(new or "")
        return roles

    def in_order(
        self, columns: list[Column], wanted: Sequence[str]
    ) -> tuple[list[Column], list[Notice]]:
        """Return the columns of a model's features in its order, or all without names."""
        names = [column.feature_name for column in columns] if wanted else []
        order, notices = naming.match_columns(names, wanted, str(self.path))
        found = columns if order is None else [columns[index] for index in order]
        return found, list(notices)

    # --- one column -------------------------------------------------------------------------------

    def certainly(self, column: Column) -> Reason | None:
        """Return why a column is no feature and no label, if it is beyond doubt."""
        name = split_unit(column.name.lower())[0]
        if ANSWER.fullmatch(column.name) and column.kind != "empty":
            return "answer"
        if column.kind == "number":
            return self.certainly_no_measurement(column, name)
        if column.kind == "date":
            column.evidence = "it has dates or times of day"
        is_session = SESSION.fullmatch(name) or DEVICE.fullmatch(name)
        of_text: Reason | None = "session" if is_session else None
        return {"empty": "empty", "date": "time"}.get(column.kind, of_text)  # type: ignore[return-value]

    def certainly_no_measurement(self, column: Column, name: str) -> Reason | None:
        """Return why numbers are no measurements; names decide only where numbers do not."""
        assert column.values is not None
        called = self.called(column, name)
        behaviour = self.behaviours[column] = behaviour_of(column.values, self.begins)
        column.evidence = behaviour.evidence
        if behaviour.kind == "counter" or (behaviour.kind == "ticks" and not column.may_be_label):
            return "index" if called == "index" else "time"
        if behaviour.kind and called:
            return called
        if called == "time" and self.recorded:
            column.evidence = "it is called so, although its numbers do not rise as times do"
            return called
        is_part = PART.fullmatch(name) is not None
        if not column.is_whole or (column is self.columns[-1] and (name in DEVICES or is_part)):
            return None
        distinct = len(np.unique(column.values))
        if is_part and distinct <= _FEW:
            column.evidence = "it has few whole numbers, and such a name"
            return "part"
        groups = called == "session" and distinct <= max(_FEW, len(column.values) / _SELDOM)
        plain = name in ("", "id", "idx", "index") or name.startswith("unnamed")
        numbers = called == "index" and plain and 2 * distinct > len(column.values)
        return called if groups or numbers else None

    def called(self, column: Column, name: str) -> Reason | None:
        """Return the role that is usual for a column's name."""
        if is_called_as_time(column.name):
            return "time"
        if SESSION.fullmatch(name) or DEVICE.fullmatch(name):
            return "session"
        return "index" if self.header and INDEX.fullmatch(name) else None

    # --- the label --------------------------------------------------------------------------------

    def label(
        self, wanted: Collection[str], *, first: bool
    ) -> tuple[Column | None, str, list[Column]]:
        """Return the label's column, how it was found, and the indicators of classes without one.

        There is no column if all rows have one label.
        """
        if self.named.label is not None:
            return self.named.label, "given by --read", []
        columns = [
            each
            for each in self.named.kept
            if each not in {**self.named.channels, **self.named.one_hot}
        ]
        named = [column for column in columns if column.name.lower() in LABEL_NAMES]
        if len(named) > 1:
            raise InputError(
                f"{self.path} has {len(named)} columns named label, class or target; rename all "
                "but one, or give --read label=NAME"
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
        also = f", or with --read session={flag} if they are sessions or persons"
        values = counted(len(column.names().texts), "different value")
        text = (
            f"{column.title} has {values}, which may be the classes; use them with --read "
            f"label={flag}, or, if the files are named after classes, give --read "
            f"{'drop' if is_text else 'keep'}={flag}{also * of_files}"
        )
        if self.options.missing != SHOWN:
            raise InputError(f"{self.path}: {text}")
        self.asked.append(Notice("label", text, True, (column.key,)))

    def last_label(
        self, free: Sequence[Column], *, among_features: bool
    ) -> tuple[Column | None, str, list[Column]]:
        """Return the last column that may have labels, or the last indicators of classes."""
        alone = self.options.normal is not None
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
            others = [each for each in free if each is not label]
            raise label_refusal(self.path, label, others, recorded=self.recorded)
        return free[-1], "the last one", []

    def no_label(self) -> InputError:
        """Return the error if no column may have labels, with the columns that only count."""
        kept = self.named.kept
        counting = [each for each in self.certain if each.kind == "number" and each in kept]
        remedy = "add a column of labels, or name the column with --read label=NAME"
        if counting[1:] and not self.named.by_option:
            *features, label = counting
            names = ",".join(each.flag_value for each in features)
            text = " and ".join(f"{each.title} ({each.evidence})" for each in counting[:_NAMED])
            remedy = (
                f"{text} were left out; if these are measurements, use --read "
                f"label={label.flag_value} --read keep={names}"
            )
        return InputError(f"{self.path} has no column of labels besides the features; {remedy}")

    # --- all others -------------------------------------------------------------------------------

    def judge(self, rest: Sequence[Column], roles: Roles) -> None:
        """Give the other columns their roles; refuse those in doubt."""
        labels = self.codes(roles)
        begins = self.begins | _changes(labels)
        copies = {
            column: "has a 1 for only one class, so it may copy the label"
            for indicators in exclusive(rest)
            for column in indicators
            if labels is not None and is_copy(codes_of(indicators), labels)
        }
        reasons, doubts = dict[Column, Reason](), dict[str, list[Column]]()
        for column in rest:
            reason, doubt = self.certain.get(column), copies.get(column, "")
            if column in self.named.used:
                continue
            if reason is None and self.recorded:
                self.refuse_turns(column)
            if reason is None and not doubt:
                reason, doubt = self.role(column, labels, begins, roles)
            if doubt and column.values is None and self.options.missing == SHOWN:
                reason = "text"
            if reason is not None:
                reasons[column] = reason
            if doubt:
                doubts.setdefault(doubt, []).append(column)
        if not self.named.channels:
            self.refuse(doubts, roles)
        first = sorted(
            reasons, key=lambda each: (each not in self.named.by_option, not _is_person(each))
        )
        roles.left_out = {column: reasons[column] for column in first}
        roles.features = [*self.named.channels] or [each for each in rest if each not in reasons]
        roles.notices += [_left_out_notice(*each) for each in reasons.items()]
        texts, label = roles.of("text"), roles.label
        guessed = roles.label_found == "the last one" and label is not None and label.kind != "text"
        if texts and (guessed or not roles.features) and not self.named.channels:
            raise text_refusal(self.path, texts, guessed=guessed)

    def role(
        self,
        column: Column,
        labels: NDArray[np.int64] | None,
        begins: NDArray[np.bool_],
        roles: Roles,
    ) -> tuple[Reason | None, str]:
        """Return why a column is left out, or a clause on why it is in doubt."""
        codes = None if column.texts is None else column.texts.codes
        if column.values is None:
            assert column.texts is not None
            assert codes is not None
            if doubt := numbers_inside(column, begins):
                return None, doubt
            in_runs = behaviour_of(codes.astype(np.float64), begins).kind == "runs"
            copies = labels is not None and is_copy(codes, labels)
            is_session = self.recorded and in_runs and not copies
            is_doubtful = not self.recorded or roles.label_found in ("by default", "the last one")
            if in_runs and not copies and is_doubtful:
                column.evidence = _SELDOM_TEXT
            return "session" if is_session else "text", ""
        if codes is not None and labels is not None and is_copy(codes, labels):
            return None, "has one value for each class, so it may be a copy of the label"
        behaviour = self.behaviours[column]
        if behaviour.kind == "rises":  # a time may begin again with each label
            behaviour = behaviour_of(column.values, begins)
            column.evidence = behaviour.evidence
        is_time = behaviour.kind in ("counter", "ticks")
        if is_time or (behaviour.kind == "rises" and self.recorded and is_clock(column.values)):
            return "time", ""
        return None, behaviour.evidence.removeprefix("it ")

    def refuse_turns(self, column: Column) -> None:
        """Refuse rows of several devices in turn, which are no consecutive samples."""
        texts = column.texts
        if texts is None or not alternates(texts.codes):
            return
        if column.values is not None:
            others = (each.values for each in self.columns if each is not column)
            if not are_devices(texts.codes, (each for each in others if each is not None)):
                return
        names = " and ".join(map(quoted, texts.texts[:2]))
        raise InputError(
            f"{self.path}: {column.title} alternates between {names}, as rows of several devices "
            "do; read the rows of each as a recording of its own with --read "
            f"session={column.flag_value} or, if it is a channel, use it with --read "
            f"keep={column.flag_value}"
        )

    def codes(self, roles: Roles) -> NDArray[np.int64] | None:
        """Return the classes of rows as numbers, if known and few."""
        if roles.indicators:
            return codes_of(roles.indicators)
        texts = None if roles.label is None else roles.label.texts
        return None if texts is None else texts.codes

    def refuse(self, doubts: Mapping[str, list[Column]], roles: Roles) -> None:
        """Refuse columns whose roles are in doubt, or warn of them if the table is only shown."""
        for doubt, columns in doubts.items():
            names = ",".join(column.flag_value for column in columns)
            others = listed(each.key for each in columns[1:])
            also = f" (the same holds for {others})" if others else ""
            first = columns[0].flag_value
            ways = f"leave it out with --read drop={names}, or use it with --read keep={names}"
            if doubt.endswith(SESSION_LIKE) and "session" not in self.named.by_option.values():
                ways = (
                    f"if its values are persons, units or recordings, use --read session={first}, "
                    f"which holds out whole ones for testing; otherwise, {ways}"
                )
            elif self.recorded:
                ways += f", or name it with --read time={first} or --read session={first}"
            if self.files is not None and roles.label is None and columns[0].may_be_label:
                ways += f"; if it has the classes, give --read label={first}"
            text = f"{columns[0].title} {doubt}{also}; {ways}"
            if self.options.missing != SHOWN:
                raise InputError(f"{self.path}: {text}")
            for column in columns:
                column.role, column.evidence = "in doubt", f"it {doubt}"
            roles.notices.append(Notice("doubt", text, True, tuple(each.key for each in columns)))


def _is_measured(column: Column) -> bool:
    """Whether a column has numbers that are no classes, or only one."""
    alone = column.texts is not None and len(column.texts.texts) == 1
    return column.kind == "number" and (not column.is_whole or alone)


def _has_few(column: Column) -> bool:
    """Whether a column may have classes, of which there are few."""
    return column.may_be_label and column.texts is not None and len(column.texts.texts) <= _FEW


def _changes(labels: NDArray[np.int64] | None) -> NDArray[np.bool_] | np.bool_:
    """Return where labels (n,) change, if they change seldom, as those of takes do."""
    if labels is None:
        return np.False_
    changed = np.diff(labels, prepend=labels[:1]) != 0
    return changed if _SELDOM * changed.sum() < len(labels) else np.False_


def _is_person(column: Column) -> bool:
    return PERSON.fullmatch(column.name.lower()) is not None


def _left_out_notice(column: Column, reason: Reason) -> Notice:
    why, warn = _WHY[reason], False
    if reason == "session" and column.evidence == _SELDOM_TEXT:
        flag = column.flag_value
        text = (
            f"{column.title} is taken as the session of each row, because {column.evidence}; if it "
            f"has the classes, give --read label={flag}, and if it has neither, drop={flag}"
        )
        return Notice("left_out", text, warning=True, columns=(column.key,))
    if reason == "text":
        why = f"text; --read one-hot={column.flag_value} turns it into features"
        if column.texts is not None and (count := len(column.texts.texts)) > ONE_HOT_LIMIT:
            why = f"text, with {count:,} different values, too many for --read one-hot"
        if warn := column.evidence == _SELDOM_TEXT:
            why += (
                f"; {column.evidence}, so if these are persons, units or recordings, use --read "
                f"session={column.flag_value}, which holds out whole ones for testing"
            )
    elif column.evidence:
        usual = reason != "time" or column.kind == "date" or is_called_as_time(column.name)
        why, warn = f"{why} ({column.evidence}); --read keep={column.flag_value} uses it", not usual
        if reason == "time" and column.kind != "date" and not usual:
            why = f"{column.evidence}; --read keep={column.flag_value} uses it"
    text = f"left out: {column.title}, {why}"
    return Notice("left_out", text, warning=warn, columns=(column.key,))


def label_refusal(
    path: object, label: Column, columns: Iterable[Column], *, recorded: bool
) -> InputError:
    """Return the error for a last column without classes, naming columns that may have some."""
    has = f"only the value {label.example}"
    if label.evidence:
        has = f"numbers such as {label.example} instead of classes"
    if not label.is_whole and label.values is not None:
        fractions = label.values[np.nan_to_num(label.values) % 1 != 0]
        has = f"numbers such as {fractions[0]:g} instead of classes"
    may_be = sorted((each for each in columns if each.may_be_label), key=lambda e: e.kind != "text")
    likely = [each.flag_value for each in may_be]
    hint = f", such as --read label={likely[0]}" if likely else ""
    others = f" (or {', '.join(likely[1:6])})" if likely[1:] else ""
    other = (
        f"predict these numbers with --read label={label.flag_value}, or, if all rows are of one "
        "class, train with --one-class"
    )
    if recorded:
        other = "put the file into a folder with a file for each class, called like the class"
    return InputError(
        f"{path} has no column called label, class or target, and its last one, {label.title}, "
        f"contains {has[:80]}; name the column of labels with --read label=NAME{hint}{others}, or "
        f"{other}"
    )


def text_refusal(path: object, columns: Sequence[Column], *, guessed: bool) -> InputError:
    """Return the error for columns of text, given whether the label was `guessed`."""
    columns = columns[: _NAMED + 1]
    titles = " and ".join(f"{each.title} (such as {quoted(each.example)})" for each in columns)
    names = ",".join(each.flag_value for each in columns)
    labels = [each.flag_value for each in columns if each.may_be_label] or [columns[0].flag_value]
    wanted = " or ".join(f"--read label={name}" for name in labels)
    unnamed = "no column called label, class or target, but has " if guessed else ""
    return InputError(
        f"{path} has {unnamed}text in {titles}; name the column of classes with {wanted}, or leave "
        f"columns of text out with --read drop={names}"
    )
