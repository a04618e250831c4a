"""From the columns of a table to features: gaps are filled, and texts become zeros and ones.

A preparation is learned on training rows and stored in the model, so that it also applies to other
tables and to the sketch on a device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import in_order, label_text, quoted
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.schema import JsonObject

Float32 = NDArray[np.float32]

RECORDED = "table"
"""The entry of a model's record that contains its preparation."""

ONE_HOT_LIMIT = 100  # maximum number of different values in a column


def _most_frequent(values: Float32) -> float:
    distinct, counts = np.unique(values, return_counts=True)
    return float(distinct[counts.argmax()])


FILLINGS: Mapping[str, Callable[[Float32], float]] = {
    "median": lambda values: float(np.median(values)),
    "most-frequent": _most_frequent,
}
IMPUTER = "imputer's"
FILLED = (*FILLINGS, IMPUTER)
"""Ways to fill the gaps of a model's points, learned from a table or in a pipeline."""

DROP = "drop"


@dataclass(frozen=True)
class Preparation:
    """The preparation learned on training rows.

    - `missing`: how gaps are filled, one of `FILLED`; `DROP` if rows with gaps are left out; or
      empty if they are refused.
    - `values`: fill the gaps of each feature, (D,), NaN if nothing does; empty if none are filled.
    - `one_hot`: the values of each column of text, by name; each is a feature ``COLUMN=value``.
    - `offsets`: what is subtracted from large numbers, by column, before they are rounded to
      float32, which would lose their differences; the feature is ``COLUMN-offset``.
    """

    missing: str = ""
    values: tuple[float, ...] = ()
    one_hot: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    offsets: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of_record(cls, record: Mapping[str, Any], n_features: int) -> Self | None:
        """Read and check the preparation in a model's record; None if there is none."""
        record_of_gaps = record.get(RECORDED)
        if record_of_gaps is None:
            return None
        try:
            values = tuple(
                math.nan if each is None else float(each) for each in record_of_gaps["values"]
            )
            one_hot = {name: tuple(texts) for name, texts in record_of_gaps["one_hot"].items()}
            offsets = {name: float(each) for name, each in record_of_gaps["offsets"].items()}
            texts = [text for each in one_hot.values() for text in each]
            count = n_features if record_of_gaps["missing"] in FILLED else 0
            valid = record_of_gaps["missing"] in ("", DROP, *FILLED) and len(values) == count
            valid = valid and not any(map(math.isinf, values))
            valid = valid and all(map(math.isfinite, offsets.values()))
        except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
            valid, texts = False, []
        if not valid or not all(isinstance(text, str) for text in texts):
            raise InvalidValue("record", f"a damaged entry {RECORDED!r}", "train the model again")
        return cls(record_of_gaps["missing"], values, one_hot, offsets)

    def to_record(self) -> JsonObject:
        """Return the entry of a model's record."""
        values = [None if math.isnan(each) else each for each in self.values]
        entry = vars(self) | {"one_hot": dict(self.one_hot), "offsets": dict(self.offsets)}
        return {RECORDED: {**entry, "values": values}}

    def columns_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the columns from which features with these names are made."""
        changed = (*self.one_hot, *self.offsets)
        made = {name: column for column in changed for name in self.names_of(column)}
        return tuple(dict.fromkeys(made.get(name, name) for name in names))

    def names_of(self, column: str) -> tuple[str, ...]:
        """Return the names of the features that a column becomes."""
        if column in self.offsets:
            return (f"{column}{-self.offsets[column]:+.15g}",)
        if column not in self.one_hot:
            return (column,)
        return tuple(f"{column}={value}" for value in self.one_hot[column])

    def indicators(self, column: str, cells: Sequence[str]) -> Float32:
        """Return the features (n, values) of a column of text: one 1 per row, or NaN in a gap.

        A value that does not occur in training rows gives zeros only.
        """
        place = {value: index for index, value in enumerate(self.one_hot[column])}
        table = np.eye(len(place) + 2, len(place), dtype=np.float32)  # two more rows of zeros
        table[-1] = np.nan
        texts = (label_text(cell) for cell in cells)
        return table[[place.get(text, -2 if text else -1) for text in texts]]

    def learned(self, X: Float32, names: Sequence[str] = ()) -> Self:
        """Learn from training rows (n, D) which values fill gaps, which are NaN."""
        if self.missing not in FILLINGS:
            return self
        fill, gaps = FILLINGS[self.missing], np.isnan(X)
        some = ~gaps.all(axis=0)
        if not some.all():
            index = int(np.argmin(some))
            which = quoted(names[index]) if names else f"{index + 1}"
            raise InputError(
                f"feature {which} has no value in the training rows, so gaps in this feature "
                "cannot be filled; leave its column out"
            )
        each = (fill(x[~gap]) for x, gap in zip(X.T, gaps.T, strict=True))
        return replace(self, values=tuple(map(float, each)))

    def fill(self, X: Float32) -> Float32:
        """Return points (n, D) with their gaps filled."""
        return np.where(np.isnan(X), np.array(self.values, np.float32), X)

    def refilled(
        self,
        X: Float32,
        gaps: NDArray[np.bool_],
        rows: NDArray[np.bool_],
        names: Sequence[str] = (),
    ) -> tuple[Self, Float32]:
        """Learn from rows (n,); return the result, and X (n, D) with its gaps (n, D) filled."""
        empty = np.where(gaps, np.float32(np.nan), X)
        learned = self.learned(empty[rows], names)
        return learned, learned.fill(empty)

    def of_columns(self, columns: Sequence[int]) -> Self:
        """Return the preparation for these features, in this order."""
        return replace(self, values=tuple(self.values[i] for i in columns if self.values))


def values_of(column: str, cells: Sequence[str]) -> tuple[str, ...]:
    """Return the values of a column to turn into features, sorted like classes."""
    texts = {label_text(cell) for cell in cells} - {""}
    if not 0 < len(texts) <= ONE_HOT_LIMIT:
        raise InputError(
            f"column {quoted(column)} has {len(texts):,} different values, but --one-hot "
            f"allows 1 to {ONE_HOT_LIMIT}; leave the column out with --drop NAME"
        )
    return in_order(texts)
