"""Facts about labelled data: classes, ranges, repeated points, columns, and probable mistakes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.columns import Column
from protonn_edge.datasets.dataset import Dataset, row_hashes
from protonn_edge.datasets.far_values import about_far_values
from protonn_edge.datasets.learned import about_outside
from protonn_edge.datasets.naming import Notice, did_you_mean, listed, names_at, quoted, title
from protonn_edge.datasets.recurring import about_recurring
from protonn_edge.datasets.text_columns import about_texts
from protonn_edge.datasets.two_ranges import about_two_ranges
from protonn_edge.datasets.units import split_unit
from protonn_edge.errors import counted

_MOST_DECIMALS = 6
_JUDGED_POINTS = 20  # with fewer points, most may have different classes
_MANY_NUMBERS = 20  # classes that are whole numbers
_WHOLE = re.compile(r"-?\d+")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-_]+(?=[^\W\d_])")  # between letters
_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")
_LONG = 4  # letters
_STOPS = ".,;:!"
_SYNONYMS = {"true": "1", "false": "0", "y": "yes", "n": "no", "j": "ja"}
_LETTERS_AS_DIGITS = str.maketrans("OoIl", "0011")
_LISTED = re.compile(r"[;,|]")  # between labels
_QUOTES = "'\"“”„«»"
_FEW_POINTS = 3  # of a class whose name may be a typo,
_FREQUENT = 5  # if a class with this many times as many points has a similar name

_MOST_FEATURES = 500  # maximum described one by one, and compared with the label
_MOST_ROWS = 20_000
_JUDGED_VALUES = 1_000
_FEWEST_ROWS = 50  # with fewer rows, a feature may agree with the label by chance
_MOST_COUNTS = 2_000_000
_GIVEN_AWAY, _ROWS_PER_VALUE = 0.995, 5


@dataclass(frozen=True)
class ClassSummary:
    """The numbers of training and test points with a label."""

    name: str
    train: int
    test: int


@dataclass(frozen=True)
class FeatureSummary:
    """The values of a feature in the training points; `decimals` is None for more than 6."""

    name: str
    minimum: float
    maximum: float
    decimals: int | None


@dataclass(frozen=True)
class DataSummary:
    """A summary of a data set, with the range of all features.

    Features are not described one by one if they are more than 500.
    """

    n_train: int
    n_test: int
    n_features: int
    classes: tuple[ClassSummary, ...]
    minimum: float
    maximum: float
    features: tuple[FeatureSummary, ...]

    @classmethod
    def of(cls, dataset: Dataset) -> DataSummary:
        """Return the summary of a data set with at least one training point."""
        X = dataset.X_train
        counts = (_counts(y, dataset.n_classes) for y in (dataset.y_train, dataset.y_test))
        return cls(
            n_train=int(X.shape[0]),
            n_test=int(dataset.X_test.shape[0]),
            n_features=dataset.n_features,
            classes=tuple(map(ClassSummary, dataset.classes, *counts)),
            minimum=float(np.fmin.reduce(X, axis=None)),
            maximum=float(np.fmax.reduce(X, axis=None)),
            features=_features(X, dataset.feature_names),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object; ranges without values are null."""
        return asdict(self, dict_factory=_without_nan)


def _without_nan(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in fields}  # noqa: PLR0124


def _features(X: NDArray[np.float32], names: Sequence[str]) -> tuple[FeatureSummary, ...]:
    if X.shape[1] > _MOST_FEATURES:
        return ()
    names = names or [""] * X.shape[1]
    ends = (reduce(X, axis=0).tolist() for reduce in (np.fmin.reduce, np.fmax.reduce))
    ranges = zip(names, X.T, *ends, strict=True)
    return tuple(FeatureSummary(name, low, high, _decimals(x)) for name, x, low, high in ranges)


def _counts(y: Any, n_classes: int) -> list[int]:
    """Return the number of points with each label, without points of no class."""
    if y.dtype == np.float64:
        return [len(y)]
    counts = y.sum(axis=0) if y.ndim == 2 else np.bincount(y, minlength=n_classes)[:n_classes]
    return [int(count) for count in counts]


def _decimals(values: NDArray[np.float32]) -> int | None:
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


def repetitions(dataset: Dataset) -> dict[str, int] | None:
    """Count repeated points; None for sets of labels.

    ``in_train`` counts points that repeat an earlier training point, ``contradicting`` points with
    another label than most equal ones, and ``in_test`` test points that are also training points.
    """
    X, tested = dataset.X_train, dataset.X_test
    if dataset.y_train.ndim != 1:
        return None
    y = dataset.y_train
    rows, copy_of = np.unique(row_hashes(X), return_inverse=True)
    pairs, counts = np.unique(np.stack([copy_of, y]), axis=1, return_counts=True)
    most = np.zeros(len(rows), np.int64)
    np.maximum.at(most, pairs[0], counts)
    return {
        "in_train": len(X) - len(rows),
        "contradicting": len(X) - int(most.sum()),
        "in_test": int(np.isin(row_hashes(tested), rows).sum()),
    }


def remarks(dataset: Dataset) -> tuple[Notice, ...]:
    """Return warnings about rare classes, too many classes, and constant features."""
    return (
        *_about_spelling(dataset),
        *_about_lists(dataset.classes),
        *_about_classes(dataset),
        *about_texts(dataset),
        *_about_features(dataset),
    )


def _about_spelling(dataset: Dataset) -> list[Notice]:
    spelled: dict[str, list[str]] = {}
    letters = [name for name in dataset.classes if not _WHOLE.fullmatch(name)]
    digits = {name: name.translate(_LETTERS_AS_DIGITS) for name in letters}
    if not {*digits.values()} <= {*dataset.classes}.difference(letters):  # letters are classes, too
        digits = {}
    for name in dataset.classes:
        spelled.setdefault(_spelling(digits.get(name, name)), []).append(name)
    alike = [names for names in spelled.values() if len(names) > 1]
    if not alike:
        return []
    text = (
        f"classes whose names differ only in how they are written: "
        f"{'; '.join(map(listed, alike))}; "
        "these may be typos"
    )
    return [Notice("spelling", text, warning=True)]


def _about_lists(classes: Sequence[str]) -> Iterator[Notice]:
    """Yield a warning about classes such as ``a;b``, which stand for several others."""
    parts = {name: [part.strip() for part in _LISTED.split(name)] for name in classes}
    found = [name for name, each in parts.items() if each[1:] and {*each} <= {*classes}]
    if found:
        text = (
            f"classes that are lists of other classes: {listed(found)}; for points with several "
            "labels, give a matrix of zeros and ones"
        )
        yield Notice("lists", text, warning=True)


def _spelling(name: str) -> str:
    """Return what is left without case, blanks, hyphens, quotes, stops, and ways to write numbers.

    Longer names in Latin letters lose their accents, too; a letter with one is another letter.
    """
    text = "".join(unicodedata.normalize("NFKC", name).casefold().split()).strip(_QUOTES)
    if len(text) >= _LONG:
        text = _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", text)
    text = text.rstrip(_STOPS) or text
    text = _SYNONYMS.get(text, text)
    try:
        return repr(float(text))
    except ValueError:
        return _HYPHEN.sub("", text)


def _about_classes(dataset: Dataset) -> list[Notice]:
    n, classes = dataset.y_train.shape[0], dataset.n_classes
    if dataset.y_train.ndim != 1 or n <= _JUDGED_POINTS:
        return []  # sets of labels, or few points
    if classes > _MANY_NUMBERS and all(map(_WHOLE.fullmatch, dataset.classes)):
        text = f"there are {classes:,} whole numbers as labels, which may be a quantity or classes"
        return [Notice("quantity", text, warning=True)]
    if 2 * classes > n:
        text = f"there are {classes:,} classes for {n:,} points; the labels may be measurements"
        return [Notice("many_classes", text, warning=True)]
    counts = np.bincount(dataset.y_train, minlength=classes)
    single = [dataset.classes[index] for index in np.flatnonzero(counts == 1)]
    text = f"{len(single)} classes have only 1 point each ({listed(single)}); these may be typos"
    if len(single) == 1:
        text = f"class {listed(single)} has only 1 point; this label may be a typo"
    notices = [Notice("rare_class", text, warning=True)] if single else []
    return [*notices, *_about_misspelt(dataset.classes, counts)]


def _about_misspelt(classes: Sequence[str], counts: NDArray[np.intp]) -> Iterator[Notice]:
    """Yield a warning for each class of few points whose name resembles a frequent class's."""
    for index in np.flatnonzero(counts <= _FEW_POINTS).tolist():
        name, letters = classes[index], _letters(classes[index])
        frequent = np.flatnonzero(counts >= _FREQUENT * counts[index]).tolist()
        others = [classes[i] for i in frequent if _letters(classes[i]) != letters]
        if question := did_you_mean(name, others):
            text = f"class {quoted(name)} has only {counted(int(counts[index]), 'point')}{question}"
            yield Notice("spelling", text, warning=True)


def _letters(name: str) -> str:
    return "".join(each for each in name.casefold() if each.isalpha())


def _about_features(dataset: Dataset) -> list[Notice]:
    names = dataset.feature_names
    notices = []
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        text = (
            f"several features share a name ({listed(twice)}), so the columns of other files "
            "cannot be matched by name"
        )
        notices.append(Notice("duplicate_names", text, warning=True, columns=tuple(twice)))
    X = dataset.X_train
    if X.shape[0] < 2:
        return notices
    ends = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    constant = np.flatnonzero(np.equal(*ends)).tolist()
    if constant:
        columns = names_at(constant, names)
        count = f"{len(constant):,} of {dataset.n_features:,} features"
        text = f"{count} never vary in the training points: {listed(columns)}"
        notices.append(Notice("constant", text, warning=True, columns=columns))
    are_columns = dataset.n_features <= _MOST_FEATURES and len(dataset.point_shape) <= 1
    by_column = (about_two_ranges, about_recurring) if are_columns else ()
    return [
        *notices,
        *about_outside(dataset.X_test, *ends, names),
        *about_far_values(dataset, *ends),
        *(each for about in by_column for each in about(dataset)),
    ]


# --- columns, and those that give the label away --------------------------------------------------


HEADINGS = ("column", "as", "type", "missing", "unreadable", "distinct", "range")
"""The headings of a table of columns."""


@dataclass(frozen=True)
class ColumnProfile:
    """Facts about a column; None if unknown."""

    name: str
    number: int
    role: str
    kind: str  # number, text or time
    unit: str
    missing: int
    unreadable: int
    distinct: int | None
    minimum: float | None
    maximum: float | None
    evidence: str  # why it has this role

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a table's row under the `HEADINGS`; the range has a unit."""
        counts = (self.missing, self.unreadable, self.distinct)
        ends = ""
        if self.minimum is not None and self.maximum is not None:
            ends = f"{self.minimum:g} to {self.maximum:g} {self.unit}".strip()
        if self.minimum is not None and self.distinct == 1:
            ends = f"always {self.minimum:g}"
        shown = (f"{count:,}" if count else "" for count in counts)
        return (self.name or str(self.number), self.role, self.kind, *shown, ends)


def profile(column: Column, dataset: Dataset) -> ColumnProfile:
    """Return the profile of a column in the training part."""
    values: NDArray[Any] = np.empty(0) if column.values is None else column.values
    if column.feature is not None:
        values = dataset.X_train[:, column.feature]
        if dataset.gaps is not None:
            values = values[~dataset.gaps[:, column.feature]]
    values, texts = values[~np.isnan(values)], column.texts
    if column.kind == "text" and texts is not None:
        distinct = len({text.strip() for text in texts.texts} - {""})
    else:
        distinct = _distinct(values)
    return ColumnProfile(
        name=column.name,
        number=column.index + 1,
        role=column.role,
        kind={"date": "time", "empty": "number"}.get(column.kind, column.kind),
        unit=split_unit(column.name)[1],
        missing=column.gaps if column.kind != "empty" else len(dataset.y_train),
        unreadable=column.unreadable,
        distinct=distinct,
        minimum=float(values.min()) + column.offset if len(values) else None,
        maximum=float(values.max()) + column.offset if len(values) else None,
        evidence=column.evidence,
    )


def _distinct(values: NDArray[Any]) -> int:
    """Return how many numbers are different; sorting is the fastest way."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(values))


def leaks(dataset: Dataset) -> Iterator[Notice]:
    """Yield warnings about columns that alone determine the label, by a threshold or by value."""
    X, y = dataset.X_train, dataset.y_train
    if y.ndim != 1 or len(y) < _FEWEST_ROWS or X.shape[1] > _MOST_FEATURES:
        return
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:_MOST_ROWS])
    y = y[rows]
    for name, number, values in _compared(dataset):
        share, how = _given_away(values[rows], y, dataset.n_classes)
        if share > _GIVEN_AWAY:
            which = title(name, number)
            text = (
                f"{which} alone determines the label of {100 * share:.2f} % of the rows ({how}); "
                "if the column is derived from the label, leave it out"
            )
            yield Notice("leak", text, warning=True, columns=(name or str(number),))
        elif _follows(values[rows], y):
            text = (
                f"{title(name, number)} has the same value in all rows of a class, but not in all "
                "classes; if the column is derived from the label, leave it out"
            )
            yield Notice("leak", text, warning=True, columns=(name or str(number),))


def _compared(dataset: Dataset) -> Iterator[tuple[str, int, NDArray[Any]]]:
    """Yield the name, the number and the values of each feature and each column of text."""
    names = dataset.feature_names or [""] * dataset.n_features
    for index, values in enumerate(dataset.X_train.T):
        yield names[index], index + 1, values
    for each in dataset.columns:
        if each.role == "text" and each.texts and len(each.texts) == len(dataset.y_train):
            yield each.name, each.index + 1, np.array(list(each.texts))


def _given_away(values: NDArray[Any], y: NDArray[np.int64], classes: int) -> tuple[float, str]:
    """Return the share of labels that values determine, and how; 0 if it proves nothing."""
    distinct, places = np.unique(values, return_inverse=True)
    if not 1 < len(distinct) <= _MOST_COUNTS // classes:
        return 0.0, ""
    flat = np.bincount(places * classes + y, minlength=len(distinct) * classes)
    counts = flat.reshape(len(distinct), classes)
    total = counts.sum(axis=0)
    below = counts.cumsum(axis=0)
    split = (below.max(axis=1) + (total - below).max(axis=1)).max()
    shares = [(0.0 if values.dtype.kind == "U" else float(split) / len(y), "with one threshold")]
    if _ROWS_PER_VALUE * len(distinct) <= len(y):
        shares.append((float(counts.max(axis=1).sum()) / len(y), "value by value"))
    share, how = max(shares)
    constant = float(total.max()) / len(y)
    return (share, how) if 10 * (1 - share) <= 1 - constant > 0 else (0.0, "")


def _follows(values: NDArray[Any], y: NDArray[np.int64]) -> bool:
    """Whether values differ between some classes, but not in a class, of which none is rare."""
    counts = np.bincount(y)
    first = np.zeros(len(counts), np.intp)
    first[y[::-1]] = np.arange(len(y))[::-1]
    of_class = values[first][counts > 0]
    if counts[counts > 0].min() < _ROWS_PER_VALUE or (of_class == of_class[0]).all():
        return False
    return bool((values == values[first][y]).all())
