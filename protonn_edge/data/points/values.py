"""Points whose label is a number, such as a temperature, instead of a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import label_text, quoted
from protonn_edge.data.points.dataset import Dataset, Table, parts_of
from protonn_edge.data.tables.cells import Notation, number_in
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

Values = NDArray[np.float64]

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

    y_train: Array
    y_test: Array

    @staticmethod
    def as_targets(y: Array) -> Values:
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


def has_values(train: Table, target: str | None, names: Sequence[str]) -> bool:
    """Return whether labels are numbers: by a target that is given, or by the labels themselves.

    Labels with fractions are probably measurements if there are many, or if they hardly repeat
    (scikit-learn's ``type_of_target`` calls them continuous), but classes such as 0.5 and 1.5 are
    possible.
    """
    if target is not None or names:
        return target == "value"
    if train.value_name:
        return True
    refuse_nearly_numbers(train)
    numbers = _numbers_by_label(train)
    few = len(numbers) <= min(_FRACTIONAL_CLASSES, len(train.X) / 2)
    decimals = any({*label} & {*".,"} for label in numbers)
    return decimals and not few and None not in numbers.values()


def refuse_nearly_numbers(table: Table) -> None:
    """Raise `InputError` if most labels are numbers, but some are like ``$1.50`` or ``high``."""
    labels, others = {*table.labels.used}, not_numbers(table)
    found = {label: number_in(label) for label in labels}
    decimal = {label for label, each in found.items() if each and {*each[1]} & {*".,"}}
    alike = len(labels) - len(others - decimal)
    if others and len(decimal) > _MANY and alike > _SHARE * len(labels):
        raise InputError(
            f"{table.source} has {len(labels):,} different labels that are mostly numbers, but "
            f"{len(others):,}, such as {quoted(min(others))}, are not plain numbers; correct them "
            "to predict numbers, or train a classifier with --target class"
        )


def value_dataset(train: Table, test: Table | None) -> ValueDataset:
    """Combine the parts of a data set of numbers; a missing test part has no rows."""
    tested, parts = parts_of(train, test)
    columns = (each.name for each in train.columns if each.role == "label")
    named = train.value_name or next(columns, "")
    y, y_test = numbers_of(train), numbers_of(tested)
    if np.ptp(y) == 0:
        raise InputError(
            f"all labels of {train.source} are {y[0]:g}, so there is nothing to predict; add "
            "points with other values, or name another column with --label NAME"
        )
    names = (label_text(named) or _DEFAULT_NAME,)
    return ValueDataset(y_train=y[:, None], y_test=y_test[:, None], classes=names, **parts)


def numbers_of(table: Table) -> Values:
    """Return the labels of a table as numbers, (n,), all finite; refuse others."""
    numbers = _numbers_by_label(table)
    values = np.array([numbers.get(text) for text in table.labels.texts], np.float64)  # or NaN
    values = values[table.labels.codes]
    if (wrong := np.flatnonzero(np.isnan(values))).size:
        row = int(wrong[0])
        raise InputError(
            f"{table.source} has the label {quoted(table.labels[row])} in row {row}, which is not "
            "a finite number; correct or drop the row"
        )
    return values


def not_numbers(table: Table) -> set[str]:
    """Return the labels of a table that are not finite numbers."""
    return {label for label, number in _numbers_by_label(table).items() if number is None}


def _numbers_by_label(table: Table) -> dict[str, float | None]:
    """Return the finite number in each different label; None for others.

    A unit or key beside the number must be the same in all of them, as in columns of features.
    """
    is_comma = table.layout is not None and table.layout.decimal_comma
    mark, other = ",." if is_comma else ".,"
    # A lone mark may be that of decimals; both in one number show which separates thousands.
    groups = any(mark in label and other in label for label in table.labels.used)
    notation = Notation(mark, other * groups)
    found = {label: number_in(label) for label in table.labels.used}
    forms = Counter(each[0] for each in found.values() if each is not None)
    usual = max(forms, key=forms.__getitem__, default=None)
    values = {
        label: notation.value(each[1]) if each is not None and each[0] == usual else np.nan
        for label, each in found.items()
    }
    return {label: value if np.isfinite(value) else None for label, value in values.items()}
