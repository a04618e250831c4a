"""Read the cells of a text table, column by column: numbers, dates, texts, and gaps.

A cell may have something attached to its number: a unit, a per cent sign, a key, brackets. Such
cells are numbers if the same is attached to all numbers of their column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import check_names, label_text, quoted
from protonn_edge.data.tables.moments import Moments, are_packed, moments_in
from protonn_edge.system.errors import InputError

FLOAT32_MAX = float(np.finfo(np.float32).max)
TOO_LARGE = "numbers beyond 3.4e38 do not fit into 32-bit floats"
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

_EXCEL = ("#n/a", "#nv", "#n/d")  # in English, German and Romance languages
_MARKS = ("", "na", "n/a", "k.a.", "k. a.", "nan", "<na>", "null", "none", "?", "-", "--", *_EXCEL)
_MAY_BE_CLASSES = ("null", "none", "-", "--")
_TRUTHS = {"true": 1.0, "false": 0.0}

_MOST_DECIMALS = 6
_JUDGED_VALUES = 1_000
_KEPT_BITS = 15  # of the 24 that float32 has, fewer than 512 different values are left

_MINUS = str.maketrans("\u2212\u2013\u2010\u2011\uff0d\uff0e", "-----.", "\u200b\u200e\u200f\ufeff")
_OTHER_MARKS = str.maketrans(".,", ",.")
_FOR_FLOAT = {".": str.maketrans("_", "?"), ",": str.maketrans(",._", ".??")}
"""For each decimal mark, which signs of a number float() reads, and which it shall refuse."""
_BLANK = "[ \u00a0\u2007\u2009\u202f'\u2019_]"  # between groups of three digits
_NUMBER = (
    rf"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d{{1,3}}(?:{_BLANK}\d{{3}})+(?:[.,]\d*)?|\d+(?:[.,]\d*)?|"
    r"\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d{1,3}(?:\.\d{3})+(?:,\d*)?|[.,]\d+)(?:[eEdD][+-]?\d+)?)"
)
_ATTACHED = re.compile(
    r"(?P<before>(?:[^\W\d][^:=\d]{0,30}\d{0,3}\s*[:=]|[$€£~≈<>\[({])?)\s*"
    rf"(?P<number>{_NUMBER})"
    r"(?P<after>\s*(?:[^\W\d_]|[%‰°€;)\]}>*])"
    r"(?:[^\s\d,.:]|\s(?!\d)|[/^]\d|(?<=[^\W\d]|-)[1-3](?!\d)){0,15})?"
)
_STAMPED = re.compile(
    r"[\[(]?(?P<time>(?:\d{1,4}[-./]\d\d?[-./]\d{2,4}[T ])?\d\d?:\d\d:\d\d(?:[.,]\d+)?"
    r"|\d+(?:\.\d+)?(?=\]|\s*(?:->|→)))(?:[\])]\s*|\s*(?:->|→|>|:(?!\d)|- )\s*|\s+)"
    r"(?P<rest>(?![+-]\d{4}\s*$|[AaPp]\.?[Mm])\S.*)"
)
_GROUPED = {
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?"),
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?"),
}
"""Numbers in which a comma or a point may stand between thousands."""


def loses_differences(low: Any, high: Any) -> Any:
    """Return whether float32 rounds away most of the differences of numbers in low..high."""
    exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    return (low < high) & (high - low < np.ldexp(1.0, exponent - _KEPT_BITS))


def decimals_of(values: Float32) -> int | None:
    """Return the number of decimals of the values, as far as float32 preserves it."""
    values = values[~np.isnan(values)]  # gaps, in a table that is only summarized
    least = 0
    for some in (values[:_JUDGED_VALUES], values):  # a few values show how many there are at least
        doubles = some.astype(np.float64)
        while not np.array_equal(np.round(doubles, least).astype(np.float32), some):
            least += 1
            if least > _MOST_DECIMALS:
                return None
    return least


def is_gap(cell: str) -> bool:
    """Return whether a cell of a column of numbers is a gap, such as NA."""
    return not cell or cell.strip().lower() in _MARKS


def is_label(cell: str) -> bool:
    """Return whether a cell of a column of labels is one, not a gap; ``none`` and ``-`` are."""
    return not is_gap(cell) or cell.strip().lower() in _MAY_BE_CLASSES


def check_labels(labels: Sequence[str], what: str, *, distinct: bool) -> None:
    """Refuse names that cannot be written to a table as labels, or are equal."""
    names = [label_text(label) for label in labels]
    check_names(names, what, distinct=distinct)
    for label in names:
        if not is_label(label):
            raise InputError(f"{what}: {label!r} stands for no label in a table; give another name")


class Form(NamedTuple):
    """What is attached to a number, and whether it is hexadecimal."""

    before: str
    after: str
    is_hexadecimal: bool

    def __str__(self) -> str:
        texts = [f"preceded by {quoted(self.before)}"] if self.before else []
        texts += [f"followed by {quoted(self.after)}"] if self.after else []
        texts += ["hexadecimal"] if self.is_hexadecimal else []
        return " and ".join(texts)


_PLAIN = Form("", "", is_hexadecimal=False)


def number_in(cell: str) -> tuple[Form, str] | None:
    """Return what is attached to the number in a cell, and the number; None if it has none."""
    match = _ATTACHED.fullmatch(cell.translate(_MINUS).strip())
    if match is None:
        return None
    number = match["number"]
    after = (match["after"] or "").rstrip()
    return Form(match["before"].strip(), after, "x" in number.lower()), number


def is_too_large(cell: str) -> bool:
    """Return whether a cell is a decimal number beyond those of float32."""
    found = number_in(cell)
    digits = "" if found is None else found[1].lower().replace(",", ".").replace("d", "e")
    with suppress(ValueError):
        return abs(float(digits)) > FLOAT32_MAX
    return False


def is_number(cell: str) -> bool:
    """Return whether a cell is a number with nothing attached, with a decimal point or comma."""
    found = number_in(cell)
    return found is not None and found[0] == _PLAIN


def stamped(cell: str) -> tuple[str, str] | None:
    """Return the time and the number in a cell such as ``10:00:00.020 -> 0.1``; None without."""
    match = _STAMPED.fullmatch(cell.strip())
    return None if match is None or number_in(match["rest"]) is None else (match[1], match["rest"])


def form_of(cell: str) -> object:
    """Return how a cell is written, for comparison with others: None for text and gaps."""
    if stamped(cell) is not None:
        return "stamped"
    found = None if is_gap(cell) else number_in(cell)
    return found[0] if found is not None else "date" if moments_in([cell]) is not None else None


# --- the decimal mark -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Notation:
    """The decimal mark and the separator of thousands of a file.

    `doubtful` is a number whose mark may be either; `is_mixed` if both marks are decimal marks.
    """

    decimal: str = "."
    thousands: str = ""
    doubtful: str = ""
    is_mixed: bool = False

    @classmethod
    def of(cls, cells: Iterable[str], delimiter: str, decimal: str | None) -> Notation:
        """Determine the notation from cells, unless the decimal mark is given."""
        decimals, separators, doubtful = _marks_of(cells, delimiter)
        if decimal is not None:
            return cls(decimal, ".,"[decimal == "."])
        if decimals:
            mark = max(".,", key=decimals.__getitem__)
            other = ".,"[mark == "."]
            is_mixed = len(decimals) > 1
            return cls(mark, other if other in {*separators, *doubtful} else "", "", is_mixed)
        if separators:
            mark = ",."[separators == {","}]
            return cls(mark, ".,"[mark == "."])
        if not doubtful:
            return cls()
        mark, cell = next(iter(doubtful.items()))
        return cls(mark, "", cell)

    def value(self, number: str) -> float:
        """Return the value of a number from `number_in`; NaN if it is not in this notation."""
        if number[:3].lower().lstrip("+-").startswith("0x"):
            return float(int(number, 16))
        text = re.sub(_BLANK, "", number)
        other = ".,"[self.decimal == "."]
        if other in text:
            if not self.thousands or not _GROUPED[other].fullmatch(text):
                return np.nan
            text = text.replace(other, "")
        if text.count(self.decimal) > 1:
            if not _GROUPED[self.decimal].fullmatch(text):
                return np.nan
            text = text.replace(self.decimal, "")
        text = text.replace(self.decimal, ".").lower().replace("d", "e")
        value = float(text)
        return value if abs(value) <= FLOAT32_MAX else np.nan


def _marks_of(
    cells: Iterable[str], delimiter: str
) -> tuple[Counter[str], set[str], dict[str, str]]:
    """Return how often each mark separates decimals, those of thousands, and numbers in doubt."""
    decimals, separators = Counter[str](), set[str]()
    doubtful: dict[str, str] = {}
    text = "\0".join(cells)
    for mark in ".,":  # most cells: one by one, they would take most of the time of reading
        text, count = _certain(mark, delimiter).subn("", text)
        decimals += Counter({mark: count})
    for cell in text.split("\0"):
        number = ("," in cell or "." in cell) and number_in(cell)
        marks = [each for each in number[1] if each in ",."] if number else []
        if not number or not marks or (number[0].after and number[1][-1] == marks[-1]):
            continue  # the point of ``7. May`` is no decimal point
        if len(set(marks)) == 2 or (len(marks) == 1 and not _is_doubtful(number[1], delimiter)):
            decimals[marks[-1]] += 1
        if len(marks) > 1:
            separators.add(marks[0])
        elif marks[0] not in decimals:
            doubtful.setdefault(marks[0], number[1])
    return decimals, separators, doubtful


@cache
def _certain(mark: str, delimiter: str) -> re.Pattern[str]:
    """Return what finds plain numbers whose only mark separates decimals, among cells."""
    number = rf"(?:0\d*|\d{{4,}})[{mark}]\d*|\d{{1,3}}[{mark}](?:\d{{0,2}}|\d{{4,}})|[{mark}]\d+"
    if delimiter == "," and mark == ".":
        number = r"\d+[.]\d*|[.]\d+"
    pattern = rf"(?:\A|\0) *[+-]?(?:{number})(?:[eEdD][+-]?\d+)? *(?=\0|\Z)"
    return re.compile(pattern, re.ASCII)


def with_other_marks(cells: Iterable[str]) -> list[str]:
    """Return cells with points for commas in their numbers, and commas for points."""
    return [
        cell.translate(_OTHER_MARKS)
        if ("," in cell or "." in cell) and number_in(cell) is not None
        else cell
        for cell in cells
    ]


def _is_doubtful(number: str, delimiter: str) -> bool:
    """Whether the only mark of a number may separate thousands; points in CSV never do."""
    mark = "," if "," in number else "."
    return not (delimiter == "," == ",."[mark == ","]) and bool(_GROUPED[mark].fullmatch(number))


# --- a column -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Meaning:
    """What the different texts of a column mean: their values, NaN for gaps and unreadable ones."""

    kind: str  # number, date, text or empty
    values: NDArray[np.float64]
    unreadable: NDArray[np.bool_]
    form: Form = _PLAIN  # what is attached to the numbers
    problem: str = ""  # a clause on unreadable numbers
    moments: Moments | None = None


def meaning_of(texts: Sequence[str], counts: NDArray[np.int64], notation: Notation) -> Meaning:
    """Return what the different texts of a column mean, given how often each occurs.

    If most cells are plain numbers, only the others are looked at one by one.
    """
    values = plain_values(texts, notation.decimal)
    odd = np.flatnonzero(np.isnan(values))
    numbers = int(counts.sum() - counts[odd].sum())
    if 2 * numbers <= counts.sum() or are_packed(texts):
        return _meaning_of(texts, counts.tolist(), 0, notation)
    others = _meaning_of(
        [texts[each] for each in odd.tolist()], counts[odd].tolist(), numbers, notation
    )
    unreadable = np.zeros(len(texts), np.bool_)
    values[odd], unreadable[odd] = others.values, others.unreadable
    return replace(others, values=values, unreadable=unreadable)


def plain_values(texts: Sequence[str], decimal: str) -> Float64:
    """Return texts as numbers, NaN for those that are none or have something attached."""
    written = "\0".join(texts).translate(_FOR_FLOAT[decimal]).split("\0") if texts else []
    try:
        values = np.fromiter(map(float, written), np.float64, len(texts))
    except ValueError:
        values = np.fromiter(map(_float, written), np.float64, len(texts))
    values[np.abs(values) > FLOAT32_MAX] = np.nan
    return values


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _meaning_of(
    texts: Sequence[str], counts: Sequence[int], numbers: int, notation: Notation
) -> Meaning:
    """Return what texts of a column mean that has more `numbers`, with nothing attached."""
    gap = np.array([is_gap(text) for text in texts], np.bool_)
    there = numbers + sum(n for n, is_empty in zip(counts, gap, strict=True) if not is_empty)
    nothing = Meaning("empty", np.full(len(texts), np.nan), np.zeros(len(texts), np.bool_))
    if not there:
        return nothing
    if not numbers and all(t.strip().lower() in _TRUTHS for t in compress(texts, ~gap)):
        truths = [_TRUTHS.get(text.strip().lower(), np.nan) for text in texts]
        return replace(nothing, kind="number", values=np.array(truths))
    cells = list(compress(texts, ~gap))
    found = [None if none else number_in(text) for text, none in zip(texts, gap, strict=True)]
    forms = Counter({_PLAIN: numbers})
    for each, count in zip(found, counts, strict=True):
        if each is not None:
            forms[each[0]] += count
    are_unlike = not numbers and max(forms.values()) < there
    if moments := moments_in(cells) if are_unlike or are_packed(cells) else None:
        nothing.values[~gap] = moments.seconds
        unreadable = np.isnan(nothing.values) & ~gap
        return replace(nothing, kind="date", unreadable=unreadable, moments=moments)
    if 2 * forms.total() < there:
        return replace(nothing, kind="text")
    form = _PLAIN if numbers else forms.most_common(1)[0][0]
    cores = [each[1] if each is not None and each[0] == form else "" for each in found]
    values = np.array([notation.value(core) if core else np.nan for core in cores])
    problem = f"most numbers of the column are {form}" if form != _PLAIN else ""
    if form.is_hexadecimal and _may_be_negative(cores):
        values[:] = np.nan
        problem = "such hexadecimal numbers may be negative, so decimal ones are needed"
    return Meaning("number", values, np.isnan(values) & ~gap, form, problem)


def _may_be_negative(numbers: Sequence[str]) -> bool:
    """Whether hexadecimal numbers of one width are near both ends of its range."""
    digits = [each.lower().split("x")[1] for each in numbers if each]
    shares = [int(each, 16) / 16 ** len(each) for each in digits]
    return len(set(map(len, digits))) == 1 and max(shares) >= 0.75 and min(shares) < 0.25
