"""Judge the role of each column of a table by what is in it.

1. A column is text, dates or numbers by its cells, also numbers with a unit or a key attached. A
   column without any value is empty.
2. Options give roles first. The label is the column called ``label``, ``class`` or ``target``;
   else the last one that may have classes, or columns of which exactly one is 1 in each row.
3. Left out are dates, text, and what `protonn_edge.data.roles.behaviour` finds to be a time, a
   counter or an identifier. What may also be a measurement, and numbers that copy the label, must
   be named by an option: the table is refused with the ways on. The usual names of such columns
   decide where their numbers do not.
4. All other columns are features.

A model's own columns are found by name and not judged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data import naming
from protonn_edge.data.naming import Notice, listed, quoted
from protonn_edge.data.options import SHOWN
from protonn_edge.data.points.preparation import ONE_HOT_LIMIT
from protonn_edge.data.roles.behaviour import (
    FALLS,
    IN_TURN,
    SESSION_LIKE,
    Behaviour,
    alternates,
    are_devices,
    are_unlike,
    behaviour_of,
    is_copy,
)
from protonn_edge.data.roles.clock import is_clock
from protonn_edge.data.roles.indicators import codes_of, exclusive
from protonn_edge.data.roles.inside_texts import is_identifier, unread_numbers
from protonn_edge.data.roles.label_column import LabelSearch, Reason
from protonn_edge.data.roles.part_names import are_parts, are_parts_or_folds
from protonn_edge.data.roles.text_columns import about_flag, is_flag, take_turns
from protonn_edge.data.tables.columns import LOST_DIGITS, Column
from protonn_edge.data.tables.usual_names import (
    ANSWER,
    DEVICE,
    DEVICES,
    INDEX,
    PART,
    PERSON,
    SENSOR,
    SESSION,
    is_called_as_time,
)
from protonn_edge.data.units import split_unit
from protonn_edge.system.errors import InputError
from protonn_edge.system.shell import quoted_word

_NAMED = 5  # maximum columns in a sentence
_FEW = 20  # different sessions or devices
_SELDOM = 8  # rows per change of a label that marks takes
_UNNAMED_FLAG = "has two texts and no name; write 0 and 1 for them, or add a first row of names"
_SELDOM_TEXT = "its texts change seldom"

_WHY: dict[Reason, str] = {
    "time": "a time",
    "index": "an index",
    "session": "a session, person or device",
    "part": "parts for training and testing, which are not used",
    "answer": "an answer that 'predict' wrote",
    "empty": "empty",
    "text": "text",
}


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
    # clauses on the roles of columns, by the columns' indices; and those whose role is in doubt
    evidence: dict[int, str] = field(default_factory=dict)
    in_doubt: set[int] = field(default_factory=set)
    in_sets: Collection[Column] = ()  # the columns of sets of labels

    def of(self, reason: Reason) -> list[Column]:
        """Return the columns that are left out for a reason."""
        return [column for column, each in self.left_out.items() if each == reason]

    def given_to(self, columns: Sequence[Column], kept: NDArray[np.bool_] | None) -> list[Column]:
        """Return all columns with their roles; those beside the features with the rows kept."""
        role_of: dict[int, str] = {each.index: why for each, why in self.left_out.items()}
        role_of |= {each.index: "feature" for each in self.features}
        role_of |= {
            each.index: "label" for each in (*self.indicators, *self.in_sets, self.label) if each
        }
        made = []
        for column in columns:
            role = role_of.get(column.index, "dropped")
            rows = None if role in ("feature", "dropped") else kept
            own = column if rows is None else column.of_rows(rows)
            role = "in doubt" if column.index in self.in_doubt else role
            evidence = self.evidence.get(column.index, "")
            made.append(replace(own, role=role, evidence=evidence))
        return made


class Judge(LabelSearch):
    """Judges the roles of all columns.

    Raises `InputError` if options name no column, or if the role of a column is in doubt.
    """

    def roles(self, *, label_first: bool) -> Roles:
        """Return the roles; without a header, the label may be in the first column."""
        expected = self.expected
        kept, one_hot = self.named.kept, self.named.one_hot
        wanted = expected.feature_names if expected is not None and self.header else ()
        if expected is not None and not expected.labelled:
            rest = [column for column in kept if column is not self.named.label]
            if wanted or len(rest) == expected.n_features:
                return Roles(None, "not needed", *self.in_order(rest, wanted), one_hot=one_hot)
        self.behaviours: dict[Column, Behaviour] = {}
        certain = {each: reason for each in kept if (reason := self.certainly(each))}
        certain |= self.named.by_option
        self.certain = {each: certain[each] for each in certain if each not in self.named.used}
        first = label_first and not self.header
        label, how, indicators = self.find(frozenset(wanted), first=first)
        rest = [each for each in kept if each is not label and each not in indicators]
        if wanted or (expected is not None and len(rest) == expected.n_features):
            found = self.in_order(rest, wanted)
            return Roles(label, how, *found, {}, one_hot, indicators, self.evidence)
        roles = Roles(label, how, [], self.asked, {}, one_hot, indicators, self.evidence)
        self.judge(rest, roles)
        new = {each: each.called(name) for each, name in self.named.channels.items()}
        roles.features = [new.get(each, each) for each in roles.features]
        roles.one_hot = [new.get(each, each) for each in roles.one_hot]
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
            self.evidence[column.index] = column.of_dates
        texts = () if column.texts is None else column.texts.texts
        if 1 < len(texts) <= _FEW and are_parts(texts):
            return "part"
        is_session = SESSION.fullmatch(name) or DEVICE.fullmatch(name)
        of_text: Reason | None = "session" if is_session else None
        of_dates: Reason | None = of_text or "time" if column.kind == "date" else of_text
        return "empty" if column.kind == "empty" else of_dates

    def certainly_no_measurement(self, column: Column, name: str) -> Reason | None:
        """Return why numbers are no measurements; names decide only where numbers do not."""
        assert column.values is not None
        called = self.called(column, name)
        behaviour = self.behaviours[column] = behaviour_of(column.values, self.begins)
        self.evidence[column.index] = behaviour.evidence
        if behaviour.kind == "counter" or (behaviour.kind == "ticks" and not column.may_be_label):
            return "index" if called == "index" else "time"
        if behaviour.kind and called:
            return called
        if called == "time" and (self.recorded or column.has_lost_digits):
            text = "it is called so, although its numbers do not rise as times do"
            self.evidence[column.index] = text
            return called
        is_part = PART.fullmatch(column.name.lower()) is not None  # with a unit, it is measured
        if not column.is_whole or (column is self.columns[-1] and (name in DEVICES or is_part)):
            return None
        distinct = len(np.unique(column.values))
        if is_part and are_parts_or_folds(column.values):
            self.evidence[column.index] = "its numbers are those of parts, and it is called so"
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

    # --- all others -------------------------------------------------------------------------------

    def judge(self, rest: Sequence[Column], roles: Roles) -> None:
        """Give the other columns their roles; refuse those in doubt."""
        self.label_codes = labels = self.codes(roles)
        self.label_begins = self.begins | _changes(labels)
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
            turns = self.turns(column) if reason is None else ""
            if turns and self.recorded:
                raise self.refuse_turns(column, turns)
            doubt = doubt or (turns if column.values is not None else "")
            if reason is None and not doubt:
                is_text = column.values is None
                reason, doubt = self.role_of_text(column, roles) if is_text else self.role(column)
            if doubt and column.values is None and self.options.missing == SHOWN:
                reason = "text"
            self.evidence |= {column.index: f"it {turns}"} if turns else {}
            if reason is not None:
                reasons[column] = reason
            if doubt:
                doubts.setdefault(doubt, []).append(column)
        if not self.named.channels:
            self.refuse(doubts, roles)
        named = self.named.by_option
        persons = [each for each in reasons if PERSON.fullmatch(each.name.lower())]
        first = sorted(reasons, key=lambda each: (each not in named, each not in persons))
        roles.left_out = {column: reasons[column] for column in first}
        roles.features = [*self.named.channels] or [each for each in rest if each not in reasons]
        roles.notices += [
            _left_out_notice(column, reason, self.evidence.get(column.index, ""), column in named)
            for column, reason in reasons.items()
        ]
        texts, label = [*roles.of("text"), *self.flags(roles)], roles.label
        guessed = roles.label_found == "the last one" and label is not None and label.kind != "text"
        if texts and (guessed or not roles.features) and not self.named.channels:
            raise text_refusal(self.path, texts, None if guessed else label)

    def flags(self, roles: Roles) -> list[Column]:
        """Return columns of two texts, and encode them as features."""
        flags = [each for each in roles.features if each not in roles.one_hot and is_flag(each)]
        if self.header:
            roles.notices += map(about_flag, flags)
            roles.one_hot = [*roles.one_hot, *flags]
        return flags

    def role(self, column: Column) -> tuple[Reason | None, str]:
        """Return why a column of numbers is left out, or a clause on why it is in doubt."""
        assert column.values is not None
        codes, labels = None if column.texts is None else column.texts.codes, self.label_codes
        if codes is not None and labels is not None and is_copy(codes, labels):
            return None, "has one value for each class, so it may be a copy of the label"
        behaviour = self.behaviours[column]
        if behaviour.kind == "rises":  # a time may begin again with each label
            behaviour = behaviour_of(column.values, self.label_begins)
            self.evidence[column.index] = behaviour.evidence
        is_time = behaviour.kind in ("counter", "ticks")
        if is_time or (behaviour.kind == "rises" and self.recorded and is_clock(column.values)):
            return "time", ""
        return None, behaviour.evidence.removeprefix("it ")

    def role_of_text(self, column: Column, roles: Roles) -> tuple[Reason | None, str]:
        """Return the same of a column of text, of which two different ones are a feature."""
        assert column.texts is not None
        codes, labels, begins = column.texts.codes, self.label_codes, self.label_begins
        in_runs = behaviour_of(codes.astype(np.float64), begins).kind == "runs"
        copies = labels is not None and is_copy(codes, labels)
        of_sensors = labels is not None and take_turns(codes, labels)
        if doubt := unread_numbers(column, begins, recorded=self.recorded):
            return None, doubt
        if in_runs and not copies:
            if not self.recorded or roles.label_found in ("by default", "the last one"):
                self.evidence[column.index] = _SELDOM_TEXT
            return "session" if self.recorded else "text", ""
        if is_flag(column) and not copies and not of_sensors:
            return None, "" if self.header else _UNNAMED_FLAG
        if is_identifier(column):
            text = "it has a different text in most rows, as an identifier does"
            self.evidence[column.index] = text
        return "index" if self.evidence.get(column.index) else "text", ""

    def turns(self, column: Column) -> str:
        """Return a clause on rows of several devices in turn, which are no consecutive samples."""
        texts, is_timed = column.texts, self.recorded or "time" in self.certain.values()
        if texts is None or not alternates(texts.codes):
            return ""
        if column.values is not None or not self.recorded:
            others = [each.values for each in self.columns if each is not column] * is_timed
            if not are_devices(texts.codes, [each for each in others if each is not None]):
                return ""
        if not self.recorded and self.are_sensors(column):
            return ""
        return f"alternates between {listed(column.names().in_order().texts)}, {IN_TURN}"

    def are_sensors(self, column: Column) -> bool:
        """Return whether values that take turns are those of sensors that measure other things."""
        texts = column.names()
        found = [SENSOR.fullmatch(name.lower()) for name in texts.used]
        kinds = {each and each[2][:3] for each in found}
        others = (each.values for each in self.columns if each is not column)
        unlike = are_unlike(texts.codes, [each for each in others if each is not None])
        return unlike or (len(kinds) > 1 and None not in kinds)

    def refuse_turns(self, column: Column, turns: str) -> InputError:
        """Return the error for a recording with rows of several devices, or of sensors of one."""
        texts, flag = column.names().in_order(), column.flag_value
        ways = f"read the rows of each as a recording of its own with --session {flag}"
        if self.are_sensors(column):
            turns = turns.replace("several devices", "different sensors")
            ways = "keep the rows of one sensor"
            if "time" in self.certain.values():
                names = quoted_word(",".join(texts.texts))
                ways = (
                    "write the rows of each to a file of its own, such as "
                    f"TAKES/1/{texts.texts[0]}.csv, and join these by their times with "
                    f"'protonn-edge windows TAKES --files {names}', or {ways}"
                )
        if column.values is not None:
            ways += f" or, if it is a channel, use it with --keep {flag}"
        return InputError(f"{self.path}: {column.title} {turns}; {ways}")

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
            ways = f"leave it out with --drop {names}, or use it with --keep {names}"
            if (
                doubt.endswith((SESSION_LIKE, IN_TURN))
                and "session" not in self.named.by_option.values()
            ):
                ways = (
                    f"if its values are persons, units or recordings, use --session {first}, "
                    f"which holds out whole ones for testing; otherwise, {ways}"
                )
            elif columns[0].values is None:
                ways = f"leave it out with --drop {names}"
                ways += _encoded(columns[0], ", or use its texts as features with --one-hot {}")
            elif self.recorded:
                ways += f", or name it with --time {first} or --session {first}"
            if self.files is not None and roles.label is None and columns[0].may_be_label:
                ways += f"; if it has the classes, give --label {first}"
            text = f"{columns[0].title} {doubt}{also}; {ways}"
            if self.options.missing != SHOWN:
                raise InputError(f"{self.path}: {text}")
            roles.in_doubt |= {column.index for column in columns}
            self.evidence |= {column.index: f"it {doubt}" for column in columns}
            roles.notices.append(Notice("doubt", text, True, tuple(each.key for each in columns)))


def _changes(labels: NDArray[np.int64] | None) -> NDArray[np.bool_] | np.bool_:
    """Return where labels (n,) change, if they change seldom, as those of takes do."""
    if labels is None:
        return np.False_
    changed = np.diff(labels, prepend=labels[:1]) != 0
    return changed if _SELDOM * changed.sum() < len(labels) else np.False_


def _encoded(text: Column, way: str) -> str:
    """Return how to use a column of text as features, if that is possible."""
    assert text.texts is not None
    few = len(text.texts.texts) <= ONE_HOT_LIMIT
    return way.format(text.flag_value) if few and text.name and not text.shares_name else ""


def _left_out_notice(column: Column, reason: Reason, evidence: str, is_named: bool) -> Notice:
    why, warn = _WHY[reason], False
    if reason == "session" and evidence == _SELDOM_TEXT:
        flag = column.flag_value
        text = (
            f"{column.title} is taken as the session of each row, because {evidence}; if it "
            f"has the classes, give --label {flag}, and if it has neither, --drop {flag}"
        )
        return Notice("left_out", text, warning=True, columns=(column.key,))
    if reason == "part" and column.kind == "text":
        why = (
            f"which divides the rows into {listed(column.names().texts)}; to test on the same "
            "rows, write the parts to the files train.txt and test.txt of a folder"
        )
        warn = True
    elif reason == "text":
        why = "text" + _encoded(column, "; --one-hot {} turns it into features")
        if column.texts is not None and (count := len(column.texts.texts)) > ONE_HOT_LIMIT:
            why = f"text, with {count:,} different values, too many for --one-hot"
        if warn := evidence == _SELDOM_TEXT or evidence.endswith(IN_TURN):
            why += (
                f"; {evidence}, so if these are persons, units or recordings, use "
                f"--session {column.flag_value}, which holds out whole ones for testing"
            )
    elif evidence:
        usual = is_named or column.kind == "date" or is_called_as_time(column.name)
        kept = "" if is_named or column.values is None else f"; --keep {column.flag_value} uses it"
        why, warn = f"{why} ({evidence}){kept}", reason == "time" and not usual
        if reason == "time" and column.has_lost_digits:
            why, warn = f"a time, but cells such as {quoted(column.example)} {LOST_DIGITS}", True
        elif column.moments is not None and column.moments.first:
            warn = True
        elif warn:
            newest = f"; if rows are newest first, give --time {column.flag_value}"
            why = f"{evidence}{newest * evidence.startswith(FALLS)}{kept}"
    text = f"left out: {column.title}, {why}"
    return Notice("left_out", text, warning=warn, columns=(column.key,))


def text_refusal(path: object, columns: Sequence[Column], label: Column | None) -> InputError:
    """Return the error for columns of text; the label is None if it is only guessed."""
    columns = columns[: _NAMED + 1]
    titles = " and ".join(f"{each.title} (such as {quoted(each.example)})" for each in columns)
    names = ",".join(each.flag_value for each in columns)
    if label is None:
        some = [each.flag_value for each in columns if each.may_be_label] or names.split(",")[:1]
        wanted = " or ".join(f"--label {name}" for name in some)
        return InputError(
            f"{path} has no column called label, class or target, but has text in {titles}; name "
            f"the column of classes with {wanted}, or leave columns of text out with --drop {names}"
        )
    own = all(each.name and not each.shares_name for each in columns)
    way = f"turn text into features with --one-hot {names}" if own else "give each column a name"
    return InputError(
        f"{path} has text in {titles}, but no column of numbers besides {label.title}, the label; "
        f"{way}, or keep a column of numbers"
    )
