"""Points whose label is a number, such as a temperature, instead of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.dataset import Dataset, Table, check_feature_count, measurements_in
from protonn_edge.datasets.naming import check_names, label_text, quoted
from protonn_edge.errors import InputError

Values = NDArray[np.float64]

_MOST_DECIMALS = 6
_DEFAULT_NAME = "value"


@dataclass(frozen=True, eq=False)
class ValueDataset(Dataset):
    """Training and test points with numbers as labels; `classes` has the name of the number.

    `y_train` and `y_test` have the shape (n, 1), float64, all finite.
    """

    estimator: ClassVar[str] = "Regressor"

    y_train: Any
    y_test: Any
    decimals: int = 0  # the most decimals of a label

    @staticmethod
    def as_targets(y: Any) -> Values:
        """Return numbers (n, 1) in the shape (n,)."""
        return np.asarray(y[:, 0])

    @property
    def label_facts(self) -> tuple[str, str]:
        """The name of the number, and its range."""
        y = self.y_train
        ends = f"{y.min():g} to {y.max():g}, mean {y.mean():.4g}"
        return self.classes[0], f"{ends}, standard deviation {y.std():.4g}"


def has_values(train: Table, target: str | None, names: Sequence[str]) -> bool:
    """Return whether labels are numbers: by a target that is given, or by the labels themselves."""
    if target is not None or names:
        return target == "value"
    return bool(measurements_in(set(train.labels), train.X.shape[0]))


def value_dataset(train: Table, test: Table | None) -> ValueDataset:
    """Combine the parts of a data set of numbers; a missing test part has no rows."""
    tested = test or Table(train.source, train.X[:0], ())
    check_feature_count(tested, train.X.shape[1], "the training part has")
    check_names(train.feature_names, f"the features of {train.source}", distinct=False)
    named = [each.name for each in train.columns if each.role == "label"]
    y, y_test = numbers_of(train), numbers_of(tested)
    if np.ptp(y) == 0:
        raise InputError(
            f"all labels of {train.source} are {y[0]:g}, so there is nothing to predict; add "
            "points with other values, or name another column with --read label=NAME"
        )
    texts = [label for label in (*train.labels, *tested.labels) if "." in label]
    decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
    return ValueDataset(
        X_train=train.X,
        y_train=y[:, None],
        X_test=tested.X,
        y_test=y_test[:, None],
        classes=(label_text(named[0]) if named else _DEFAULT_NAME,),
        decimals=min(decimals, _MOST_DECIMALS),
        **train.provenance()
        | {"notices": (*train.notices, *(n for n in tested.notices if n not in train.notices))},
    )


def numbers_of(table: Table) -> Values:
    """Return the labels of a table as numbers, (n,); refuse others, and infinite ones."""
    comma = table.layout is not None and table.layout.decimal_comma
    values = np.empty(len(table.labels))
    for row, label in enumerate(table.labels):
        number = as_number(label, comma=comma)
        if number is None:
            raise InputError(
                f"{table.source} has the label {quoted(label)} in row {row}, which is not a finite "
                "number; correct or drop the row, or train a classifier with --target class"
            )
        values[row] = number
    return values


def as_number(label: str, *, comma: bool = False) -> float | None:
    """Return a label as a finite number; None if it is none."""
    try:
        number = float(label.replace(",", ".") if comma else label)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
