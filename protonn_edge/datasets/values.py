"""Points whose label is a number, such as a temperature, instead of a class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.dataset import Dataset, Table, check_feature_count
from protonn_edge.datasets.naming import Notice, check_names, label_text, quoted
from protonn_edge.errors import InputError

Values = NDArray[np.float64]

_FAR = 100  # times the range of the middle half of the labels
_NEARLY = re.compile(r"[^\d.,]{0,4}[-+\u2212]?\d[\d.,' ]*[.,]\d+[^\d.,]{0,8}")
_SHARE, _MANY = 0.9, 20  # of labels that are nearly numbers, and how many differ
_FRACTIONAL_CLASSES = 10  # at most
_DEFAULT_NAME = "value"


@dataclass(frozen=True, eq=False)
class ValueDataset(Dataset):
    """Training and test points with numbers as labels; `classes` has the name of the number.

    `y_train` and `y_test` have the shape (n, 1), float64, all finite.
    """

    estimator: ClassVar[str] = "Regressor"
    predicts: ClassVar[str] = "value"

    y_train: Any
    y_test: Any

    @staticmethod
    def as_targets(y: Any) -> Values:
        """Return numbers (n, 1) in the shape (n,)."""
        return np.asarray(y[:, 0])

    @property
    def label_facts(self) -> tuple[str, str]:
        """The name of the number, and its range."""
        return self.classes[0], spread_of(self.y_train)


def spread_of(y: Values) -> str:
    """Return the range, the mean and the deviation of numbers as text."""
    ends = f"{y.min():g} to {y.max():g}, mean {y.mean():.4g}"
    return f"{ends}, standard deviation {y.std():.4g}"


def means_of_windows(values: Values, begins: NDArray[np.int64], window: int) -> Values:
    """Return the mean of the numbers of each window's samples, (windows,)."""
    return np.array([values[begin : begin + window].mean() for begin in begins], np.float64)


def takes_among_all(take_of: NDArray[np.int64], values: Values, share: float) -> NDArray[np.bool_]:
    """Return the rows (rows,) of a share of the takes, evenly spaced by their mean numbers."""
    takes = np.unique(take_of)
    order = np.argsort([values[take_of == take].mean() for take in takes], kind="stable")
    count = min(max(1, round(share * len(takes))), len(takes) - 1)
    places = ((np.arange(count) + 0.5) * len(takes) / max(count, 1)).astype(np.int64)
    return np.isin(take_of, takes[order[places]])


def has_values(train: Table, target: str | None, names: Sequence[str]) -> bool:
    """Return whether labels are numbers: by a target that is given, or by the labels themselves."""
    if target is not None or names:
        return target == "value"
    if train.value_name:
        return True
    refuse_nearly_numbers(train)
    return bool(_measurements(train))


def refuse_nearly_numbers(table: Table) -> None:
    """Raise `InputError` if most labels are numbers, but some are like ``$1.50`` or ``high``."""
    labels, others = set(table.labels), not_numbers(table)
    decimal = {label for label in labels if _NEARLY.fullmatch(label)}
    alike = len(labels) - len(others - decimal)
    if others and len(decimal) > _MANY and alike > _SHARE * len(labels):
        raise InputError(
            f"{table.source} has {len(labels):,} different labels that are mostly numbers, but "
            f"{len(others):,}, such as {quoted(min(others))}, are not plain numbers; correct them "
            "to predict numbers, or train a classifier with --target class"
        )


def _measurements(table: Table) -> list[float]:
    """Return the labels with fractions if there are many, or if they hardly repeat.

    Such labels are probably measurements (scikit-learn's ``type_of_target`` calls them continuous),
    but classes such as 0.5 and 1.5 are possible.
    """
    labels, comma = set(table.labels), _has_commas(table)
    numbers = {label: _parsed(label, comma=comma) for label in labels}
    few = len(labels) <= min(_FRACTIONAL_CLASSES, table.X.shape[0] / 2)
    if few or None in numbers.values():
        return []
    mark = "," if comma else "."
    found = (each for label, each in numbers.items() if mark in label and each is not None)
    return [each for each in found if np.isfinite(each)]


def value_dataset(train: Table, test: Table | None) -> ValueDataset:
    """Combine the parts of a data set of numbers; a missing test part has no rows."""
    tested = test or Table(train.source, train.X[:0], ())
    check_feature_count(tested, train.X.shape[1], "the training part has")
    check_names(train.feature_names, f"the features of {train.source}", distinct=False)
    columns = (each.name for each in train.columns if each.role == "label")
    named = train.value_name or next(columns, "")
    y, y_test = numbers_of(train), numbers_of(tested)
    middle, quarters = np.median(y), np.subtract(*np.quantile(y, (0.75, 0.25)))
    far = int(np.abs(y - middle).argmax())
    notices = [*train.notices, *(each for each in tested.notices if each not in train.notices)]
    if abs(y[far] - middle) > _FAR * quarters > 0:
        text = (
            f"the label {y[far]:g} in row {far:,} is far from all others, of which half differ by "
            f"at most {quarters:.3g}; correct or drop the row if it is an error"
        )
        notices.append(Notice("far_label", text, warning=True))
    if np.ptp(y) == 0:
        raise InputError(
            f"all labels of {train.source} are {y[0]:g}, so there is nothing to predict; add "
            "points with other values, or name another column with --read label=NAME"
        )
    return ValueDataset(
        X_train=train.X,
        y_train=y[:, None],
        X_test=tested.X,
        y_test=y_test[:, None],
        classes=(label_text(named) or _DEFAULT_NAME,),
        **train.provenance() | {"notices": tuple(notices)},
    )


def numbers_of(table: Table) -> Values:
    """Return the labels of a table as numbers, (n,), all finite; refuse others."""
    comma = _has_commas(table)
    values = np.empty(len(table.labels))
    for row, label in enumerate(table.labels):
        number = as_number(label, comma=comma)
        if number is None:
            raise InputError(
                f"{table.source} has the label {quoted(label)} in row {row}, which is not a finite "
                "number; correct or drop the row"
            )
        values[row] = number
    return values


def not_numbers(table: Table) -> set[str]:
    """Return the labels of a table that are not finite numbers."""
    comma = _has_commas(table)
    return {label for label in set(table.labels) if as_number(label, comma=comma) is None}


def as_number(label: str, *, comma: bool = False) -> float | None:
    """Return a label as a finite number; None if it is none."""
    number = _parsed(label, comma=comma)
    return number if number is not None and np.isfinite(number) else None


def _parsed(label: str, *, comma: bool) -> float | None:
    """Return a label as a number, which may be NaN or infinite; None if it is none."""
    if comma and "." in label:  # thousands, or a table of both marks
        return None
    try:
        return float(label.replace("\u2212", "-").replace(",", "." if comma else ","))
    except ValueError:
        return None


def _has_commas(table: Table) -> bool:
    return table.layout is not None and table.layout.decimal_comma
