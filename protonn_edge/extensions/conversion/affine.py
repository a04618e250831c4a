"""A map of features: chosen, filled, encoded, scaled and turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.naming import label_text
from protonn_edge.data.points.preparation import IMPUTER, Preparation
from protonn_edge.learn.points import Float32, check_finite
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_shape
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.schema import JsonObject

Float64 = NDArray[np.float64]
_SINGLE = ("columns", "texts", "fills", "offset", "scale", "shift")  # one value per feature


@dataclass(frozen=True, eq=False)
class AffineMap:
    """Maps some of D raw features, x (n,), to an estimator's k features.

    These are ``axes @ ((x - offset) * scale) + shift``. x contains only the features that a
    pipeline selects, so the device needs no others.
    """

    n_features: int  # D
    columns: NDArray[np.intp]  # (n,): the indices of x among the raw features
    # (n,): the text of the raw feature for which x is 1, and otherwise 0; None if x is a number
    texts: NDArray[np.object_]
    fills: Float64  # (n,): replaces a gap, in the unit of the feature; NaN for none
    offset: Float64  # (n,): in the unit of the feature, and its reciprocal
    scale: Float64
    axes: Float64 | None  # (k, n): None is the identity
    shift: Float64  # (k,)
    raw_names: tuple[str, ...] = ()  # (D,): the columns of a table that were fitted; or unknown

    @classmethod
    def identity(cls, n_features: int) -> Self:
        """Return the identity of D features."""
        zeros, ones = np.zeros(n_features), np.ones(n_features)
        no_texts = np.full(n_features, None)
        columns = np.arange(n_features)
        return cls(n_features, columns, no_texts, np.nan * ones, zeros, ones, None, zeros)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return a map with the features of several maps, which have no axes."""
        numbers: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in _SINGLE
        }
        return replace(parts[0], **numbers)

    def taken(self, X: object, what: str) -> Float32:
        """Return x (rows, n) of points X (rows, D), with gaps filled; errors call them `what`."""
        x = self.with_gaps(X, what)
        check_finite(x, what)
        return x

    def with_gaps(self, X: Any, what: str) -> Float32:
        """Return the same with NaN in the gaps that this map does not fill."""
        # A table may have its columns in any order.
        given = {str(name): name for name in getattr(X, "columns", ())}
        wanted = as_spelled(self.raw_names, tuple(given))
        if wanted and sorted(given) == sorted(wanted):
            X = X[[given[name] for name in wanted]]
        rows = rows_of(X, what)
        check_shape(what, rows.shape[1:], (self.n_features,))
        x, numbers = np.empty((len(rows), len(self.columns)), np.float32), ~self.has_text
        try:  # unused features may be texts
            x[:, numbers] = rows[:, self.columns[numbers]].astype(np.float32)
        except (TypeError, ValueError) as error:
            raise InvalidValue(what, "no table of numbers") from error
        for column in np.unique(self.columns[self.has_text]):
            own = self.has_text & (self.columns == column)
            x[:, own] = _indicators(rows[:, column], self.texts[own])
        return np.where(np.isnan(x), self.fills.astype(np.float32), x)

    def names(self, estimator: object) -> tuple[str, ...]:
        """Return the names of x, from the names that an estimator was fitted with.

        Without these, return none, or scikit-learn's default names if x is only a part of the
        features.
        """
        given = raw_names_of(estimator, self.n_features)
        if not given and self.takes_all:
            return ()
        each = zip(_names_of(self.columns, given), self.texts, strict=True)
        return tuple(name if text is None else f"{name}={text}" for name, text in each)

    @property
    def one_hot(self) -> dict[str, tuple[str, ...]]:
        """The texts of each column that become features, by the column's name."""
        found: dict[str, tuple[str, ...]] = {}
        for name, text in zip(_names_of(self.columns, self.raw_names), self.texts, strict=True):
            if text is not None:
                found[name] = (*found.get(name, ()), text)
        return found

    def of_table(self, names: Sequence[str]) -> Self:
        """Return this map of x, whose texts a table has already turned into features."""
        numbers = type(self).identity(len(self.columns))
        return replace(
            self,
            n_features=len(names),
            columns=numbers.columns,
            texts=numbers.texts,
            raw_names=tuple(names),
        )

    @property
    def has_text(self) -> NDArray[np.bool_]:
        """Which of x, (n,), depend on the text of a raw feature."""
        return np.array([text is not None for text in self.texts], np.bool_)

    @property
    def scales(self) -> bool:
        """Whether the map changes values, instead of only selecting and filling them."""
        unchanged = (self.scale == 1).all() and not self.offset.any() and not self.shift.any()
        return self.axes is not None or not unchanged

    @property
    def takes_all(self) -> bool:
        """Whether x are the raw features."""
        return np.array_equal(self.columns, np.arange(self.n_features))

    @property
    def record(self) -> JsonObject:
        """Entries of a model's record: the columns in use, and the values that fill gaps."""
        one_hot = self.one_hot
        of_all = self.takes_all or bool(one_hot)
        record: JsonObject = {} if of_all else {"columns": self.columns.tolist()}
        fills = not np.isnan(self.fills).all()
        if fills or one_hot:
            values = tuple(self.fills.tolist()) if fills else ()
            record |= Preparation(IMPUTER if fills else "", values, one_hot).to_record()
        return record

    @property
    def n_outputs(self) -> int:
        """k, the number of the estimator's own features."""
        return len(self.shift)

    def apply(self, X: Array) -> Float64:
        """Return the estimator's features (rows, k) of x (rows, n)."""
        scaled: Float64 = (X - self.offset) * self.scale
        return (scaled if self.axes is None else scaled @ self.axes.T) + self.shift

    def weights(self, W: Float64) -> Float64:
        """Return W (d, k), a matrix for the estimator's features, as one for x, (d, n)."""
        return (W if self.axes is None else W @ self.axes) * self.scale

    def scaled(self, offset: Float64, scale: Float64) -> Self:
        """Return this map with ``(z - offset) * scale`` after it."""
        if self.axes is None:
            # (((x - o) s + t) - offset) scale; if s makes a feature constant, `shift` contains it.
            return replace(self, scale=self.scale * scale, shift=(self.shift - offset) * scale)
        return replace(self, axes=self.axes * scale[:, None], shift=(self.shift - offset) * scale)


def selected(affine: AffineMap, features: NDArray[np.intp]) -> AffineMap:
    """Return a map with only the estimator's features of these indices."""
    if affine.axes is not None:
        return replace(affine, axes=affine.axes[features], shift=affine.shift[features])
    return replace(affine, **{name: getattr(affine, name)[features] for name in _SINGLE})


def filling(affine: AffineMap, values: Sequence[float]) -> AffineMap:
    """Return a map with `values` (D,) in the gaps that it does not fill itself."""
    others = np.array(values, np.float64)[affine.columns]
    return replace(affine, fills=np.where(np.isnan(affine.fills), others, affine.fills))


def _names_of(columns: NDArray[np.intp], given: Sequence[str]) -> list[str]:
    return [given[column] if given else f"x{column}" for column in columns]


def _indicators(cells: Array, texts: NDArray[np.object_]) -> Float32:
    """Return which of `texts` (k,) each cell of a column is, (n, k); NaN in a gap."""
    read = [text_of(cell) for cell in cells]
    values = np.array([[text == each for each in texts] for text in read], np.float32)
    values[[text is None for text in read]] = np.nan
    return values


def text_of(value: object) -> str | None:
    """Return the text of a cell, as in tables; None for a gap."""
    is_gap = value is None or (isinstance(value, float | np.floating) and np.isnan(value))
    return None if is_gap else label_text(str(value)) or None


def points_of(X: object, what: str) -> Array:
    """Return points as an array, or raise `InputError` if their shapes differ."""
    try:
        return np.asarray(X)
    except ValueError as error:
        raise InvalidValue(what, "points of different shapes") from error


def as_spelled(wanted: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    """Return names as a table spells them; LightGBM replaces their spaces with underscores."""
    spelled = {name.replace(" ", "_"): name for name in given}
    return tuple(name if name in given else spelled.get(name, name) for name in wanted)


def raw_names_of(estimator: object, n_features: int) -> tuple[str, ...]:
    """Return the names of D features with which an estimator was fitted, or none."""
    given: Any = getattr(estimator, "feature_names_in_", None)
    is_named = isinstance(given, np.ndarray) and given.shape == (n_features,)
    return tuple(map(str, given)) if is_named else ()


def rows_of(X: object, what: str) -> Array:
    """Return points (n, D) of any type as a dense table, or raise `InputError`."""
    points = points_of(X, what)
    check(points.ndim == 2 and 0 not in points.shape, what, points.shape, "a row per point")
    return points


def rows_in_order(X: ArrayLike, order: NDArray[np.intp]) -> ArrayLike:
    """Return points with several axes as rows (n, D), with their values at the places `order`."""
    points = points_of(X, "X")
    if points.ndim < 3 or points.size != len(points) * len(order):
        return X
    return points.reshape(len(points), len(order))[:, order]
