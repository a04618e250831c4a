"""Scikit-learn's scalers, selectors, imputers, one-hot encoder and PCA as one map of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.conversion.reading import attribute, check_fitted, flag_of, numbers_of
from protonn_edge.datasets.dataset import dense_features
from protonn_edge.datasets.naming import label_text, listed
from protonn_edge.datasets.preparation import IMPUTER, Preparation
from protonn_edge.errors import InputError
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.deployment import Deployable
from protonn_edge.training.points import Float32, Indices, check_finite

Float64 = NDArray[np.float64]


Reader = Callable[["AffineMap", Any], "AffineMap"]
_ENDS = ("lower", "upper", "mean", "background")
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

    def taken(self, X: Any, what: str) -> Float32:
        """Return x (rows, n) of points X (rows, D), with gaps filled; errors call them `what`."""
        x = self.with_gaps(X, what)
        check_finite(x, what)
        return x

    def with_gaps(self, X: Any, what: str) -> Float32:
        """Return the same with NaN in the gaps that this map does not fill."""
        # A table may have its columns in any order; LightGBM replaces spaces in their names.
        given = {str(name).replace(" ", "_"): name for name in getattr(X, "columns", ())}
        wanted = [name.replace(" ", "_") for name in self.raw_names]
        if wanted and sorted(given) == sorted(wanted):
            X = X[[given[name] for name in wanted]]
        rows = rows_of(X, what)
        if rows.shape[1] != self.n_features:
            raise InputError(
                f"{what} has the shape {rows.shape}, but the pipeline was fitted with "
                f"{self.n_features:,} features; use points with the same features"
            )
        x, numbers = np.empty((len(rows), len(self.columns)), np.float32), ~self.has_text
        try:  # unused features may be texts
            x[:, numbers] = rows[:, self.columns[numbers]].astype(np.float32)
        except (TypeError, ValueError) as error:
            raise InputError(f"{what} must be a table of numbers, one row per point") from error
        for column in np.unique(self.columns[self.has_text]):
            own = self.has_text & (self.columns == column)
            x[:, own] = _indicators(rows[:, column], self.texts[own])
        return np.where(np.isnan(x), self.fills.astype(np.float32), x)

    def filling(self, values: Sequence[float]) -> Self:
        """Return this map with `values` (D,) in the gaps that it does not fill itself."""
        others = np.array(values, np.float64)[self.columns]
        return replace(self, fills=np.where(np.isnan(self.fills), others, self.fills))

    def names(self, estimator: Any) -> tuple[str, ...]:
        """Return the names of x, from the names that an estimator was fitted with.

        Without these, return none, or scikit-learn's default names if x is only a part of the
        features.
        """
        given = raw_names_of(estimator, self.n_features)
        if not given and self.takes_all:
            return ()
        each = zip(self._names_of_columns(given), self.texts, strict=True)
        return tuple(name if text is None else f"{name}={text}" for name, text in each)

    def _names_of_columns(self, given: Sequence[str]) -> list[str]:
        return [given[column] if given else f"x{column}" for column in self.columns]

    @property
    def one_hot(self) -> dict[str, tuple[str, ...]]:
        """The texts of each column that become features, by the column's name."""
        found: dict[str, tuple[str, ...]] = {}
        for name, text in zip(self._names_of_columns(self.raw_names), self.texts, strict=True):
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
    def record(self) -> dict[str, Any]:
        """Entries of a model's record: the columns in use, and the values that fill gaps."""
        one_hot = self.one_hot
        of_all = self.takes_all or bool(one_hot)
        record: dict[str, Any] = {} if of_all else {"columns": self.columns.tolist()}
        fills = not np.isnan(self.fills).all()
        if fills or one_hot:
            values = tuple(self.fills.tolist()) if fills else ()
            record |= Preparation(IMPUTER if fills else "", values, one_hot).to_record()
        return record

    @property
    def n_outputs(self) -> int:
        """k, the number of the estimator's own features."""
        return len(self.shift)

    def apply(self, X: NDArray[Any]) -> Float64:
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

    def selected(self, features: NDArray[np.intp]) -> Self:
        """Return this map with only the estimator's features of these indices."""
        if self.axes is not None:
            return replace(self, axes=self.axes[features], shift=self.shift[features])
        return replace(self, **{name: getattr(self, name)[features] for name in _SINGLE})

    def turned(self, axes: Float64, centre: Float64) -> Self:
        """Return this map with ``axes @ (z - centre)`` after it."""
        return replace(
            self,
            axes=axes if self.axes is None else axes @ self.axes,
            shift=axes @ (self.shift - centre),
        )


def _indicators(cells: NDArray[Any], texts: NDArray[np.object_]) -> Float32:
    """Return which of `texts` (k,) each cell of a column is, (n, k); NaN in a gap."""
    read = [_text_of(cell) for cell in cells]
    values = np.array([[text == each for each in texts] for text in read], np.float32)
    values[[text is None for text in read]] = np.nan
    return values


def _text_of(value: Any) -> str | None:
    """Return the text of a cell, as in tables; None for a gap."""
    is_gap = value is None or (isinstance(value, float | np.floating) and np.isnan(value))
    return None if is_gap else label_text(str(value)) or None


def points_of(X: Any, what: str) -> NDArray[Any]:
    """Return points as an array, or raise `InputError` if their shapes differ."""
    try:
        return np.asarray(X)
    except ValueError as error:
        raise InputError(
            f"{what} has points of different shapes; give all points the same shape"
        ) from error


def rows_in_order(X: ArrayLike, order: NDArray[np.intp]) -> ArrayLike:
    """Return points with several axes as rows (n, D), with their values at the places `order`."""
    points = points_of(X, "X")
    if points.ndim < 3 or points.size != len(points) * len(order):
        return X
    return points.reshape(len(points), len(order))[:, order]


def raw_names_of(estimator: Any, n_features: int) -> tuple[str, ...]:
    """Return the names of D features with which an estimator was fitted, or none."""
    given: Any = getattr(estimator, "feature_names_in_", None)
    is_named = isinstance(given, np.ndarray) and given.shape == (n_features,)
    return tuple(map(str, given)) if is_named else ()


def rows_of(X: Any, what: str) -> NDArray[Any]:
    """Return points (n, D) of any type as a dense table, or raise `InputError`."""
    points = points_of(dense_features(X, what), what)
    if points.ndim != 2 or 0 in points.shape:
        raise InputError(
            f"{what} has the shape {points.shape}; it must be a table of numbers, one row per point"
        )
    return points


def affine_map(affine: AffineMap, transformers: list[tuple[str, Any]]) -> AffineMap:
    """Return a map with a pipeline's fitted transformers after it; unknown ones are refused."""
    for name, transformer in transformers:
        if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
            continue
        selects = _selected if hasattr(transformer, "get_support") else None
        then, step = _READERS.get(type(transformer), selects), f"step {str(name)[:40]!r}"
        if then is None:
            readable = ", ".join(sorted(each.__name__ for each in _READERS))
            raise InputError(
                f"the pipeline's {step} has the type {type(transformer).__name__}, but each step "
                f"before the classifier must be a feature selector or one of {readable}; apply "
                "this step to the data first, and fit a pipeline without it"
            )
        try:
            affine = then(affine, transformer)
        except InputError as error:
            raise InputError(f"in the pipeline's {step}, {error}") from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"the pipeline's {step} is damaged; fit it again") from error
    return affine


def _pipeline(before: AffineMap, pipeline: Any) -> AffineMap:
    return affine_map(before, attribute(pipeline, "steps"))


def _unchanged(before: AffineMap, transformer: Any) -> AffineMap:
    if transformer.func is not None:
        raise InputError("the FunctionTransformer calls a Python function, but must have func=None")
    return before


def _selected(before: AffineMap, selector: Any) -> AffineMap:
    """Return the map with the features that a selector keeps."""
    kept = np.flatnonzero(attribute(selector, "get_support")())
    if not kept.size:
        raise InputError(f"the {type(selector).__name__} selects no features; keep at least one")
    return before.selected(kept)


def _imputer(before: AffineMap, imputer: Any) -> AffineMap:
    """Return the map with gaps filled; features that had no values in training are left out."""
    empty = imputer.missing_values
    is_nan = isinstance(empty, float | np.floating) and np.isnan(empty)
    if before.axes is not None or not is_nan or flag_of(imputer, "add_indicator"):
        raise InputError(
            "the SimpleImputer follows a PCA, adds indicators or replaces values other than NaN; "
            "fit an imputer before the PCA, with add_indicator=False and missing_values=numpy.nan"
        )
    statistics = attribute(imputer, "statistics_")
    if any(isinstance(each, str) for each in statistics):
        raise InputError(
            "the SimpleImputer fills gaps with texts; fill the gaps of these columns in the data"
        )
    statistics = np.array(statistics, dtype=np.float64)
    if np.isinf(statistics).any():
        raise InputError("the SimpleImputer fills in an infinite number; fit it again")
    raw = (statistics - before.shift) / before.scale + before.offset
    fills = np.where(np.isnan(before.fills), raw, before.fills)
    return replace(before, fills=fills).selected(np.flatnonzero(~np.isnan(statistics)))


def _one_hot(before: AffineMap, encoder: Any) -> AffineMap:
    """Return the map with a feature for each category of each column, as `--one-hot` makes them."""
    changed = before.scales or before.has_text.any() or not np.isnan(before.fills).all()
    if changed:
        raise InputError(
            "the OneHotEncoder follows a step that changes its columns; encode the columns as they "
            "are in the data"
        )
    for name in ("drop", "min_frequency", "max_categories"):
        if (value := attribute(encoder, name)) is not None:
            raise InputError(
                f"the OneHotEncoder has {name}={str(value)[:40]}, but a device has one feature for "
                f"each category; fit it with {name}=None"
            )
    columns, texts = list[int](), list[str]()
    for column, categories in zip(before.columns, attribute(encoder, "categories_"), strict=True):
        of_column = [_text_of(each) for each in categories.tolist()]
        if None in of_column or len({*of_column}) < len(of_column):
            raise InputError(
                f"the OneHotEncoder has the categories {listed(map(str, categories))}, of which "
                "one is a gap or two have the same text; leave out or correct these rows first"
            )
        columns += [int(column)] * len(of_column)
        texts += [str(text) for text in of_column]
    same = AffineMap.identity(len(columns))
    return replace(
        same,
        n_features=before.n_features,
        columns=np.array(columns, np.intp),
        texts=np.array(texts, np.object_),
    )


def _columns(before: AffineMap, transformer: Any) -> AffineMap:
    """Return the map with the features of all parts of a ColumnTransformer."""
    if attribute(transformer, "transformer_weights") is not None:
        raise InputError("the ColumnTransformer has weights; fit it without transformer_weights")
    columns, parts = attribute(transformer, "_transformer_to_input_indices"), []
    for name, part, _ in attribute(transformer, "transformers_"):
        indices = np.asarray(columns[name], dtype=np.intp)
        if len(indices) and not (isinstance(part, str) and part == "drop"):
            parts.append(affine_map(before.selected(indices), [(name, part)]))
    if not parts:
        raise InputError("the ColumnTransformer drops all features; keep at least one")
    if any(part.axes is not None for part in parts):
        raise InputError(
            "the ColumnTransformer contains a PCA; fit the PCA on all features, after the other "
            "steps"
        )
    joined = AffineMap.joined(parts)
    each = {*zip(joined.columns.tolist(), joined.texts, strict=True)}
    of_columns = {(column, text is None) for column, text in each}  # either texts or a number
    if len(each) < len(joined.columns) or len(of_columns) > len(np.unique(joined.columns)):
        raise InputError("the ColumnTransformer uses a feature twice; use each feature once")
    return joined


def _centring(centre: str, centring: str, scaling: str) -> Reader:
    """Return the reader of scalers with this centre, and with flags for centring and scaling."""

    def read(before: AffineMap, scaler: Any) -> AffineMap:
        k = before.n_outputs
        centred, scaled = flag_of(scaler, centring), flag_of(scaler, scaling)
        offset = numbers_of(scaler, centre, (k,)) if centred else np.zeros(k)
        scale = numbers_of(scaler, "scale_", (k,)) if scaled else np.ones(k)
        return before.scaled(offset, _inverse(scale, scaler))

    return read


def _minmax(before: AffineMap, scaler: Any) -> AffineMap:
    if flag_of(scaler, "clip"):
        raise InputError(
            "the MinMaxScaler clips values, which a model cannot do; fit it with clip=False"
        )
    scale = numbers_of(scaler, "scale_", (before.n_outputs,))
    return before.scaled(-numbers_of(scaler, "min_", scale.shape) * _inverse(scale, scaler), scale)


def _maxabs(before: AffineMap, scaler: Any) -> AffineMap:
    scale = numbers_of(scaler, "scale_", (before.n_outputs,))
    return before.scaled(np.zeros_like(scale), _inverse(scale, scaler))


def _pca(before: AffineMap, analysis: Any) -> AffineMap:
    axes = numbers_of(analysis, "components_", (None, before.n_outputs))
    centre = numbers_of(analysis, "mean_", (before.n_outputs,))
    turned = before.turned(axes, centre)
    if not flag_of(analysis, "whiten"):
        return turned
    variance = numbers_of(analysis, "explained_variance_", (len(axes),))
    deviation = np.maximum(np.sqrt(np.maximum(variance, 0.0)), np.finfo(np.float64).eps)
    return turned.scaled(np.zeros(len(axes)), 1.0 / deviation)


def _inverse(scale: Float64, scaler: Any) -> Float64:
    if not (scale != 0).all():
        raise InputError(
            f"the {type(scaler).__name__} divides feature {int(np.argmin(scale != 0)):,} by 0; fit "
            "it again"
        )
    return 1.0 / scale


_READERS: dict[type, Reader] = {
    StandardScaler: _centring("mean_", "with_mean", "with_std"),
    MinMaxScaler: _minmax,
    MaxAbsScaler: _maxabs,
    OneHotEncoder: _one_hot,
    RobustScaler: _centring("center_", "with_centering", "with_scaling"),
    PCA: _pca,
    SimpleImputer: _imputer,
    ColumnTransformer: _columns,
    FunctionTransformer: _unchanged,
    Pipeline: _pipeline,
}


@dataclass(frozen=True, eq=False)
class PipelineModel(Deployable):
    """The model of a pipeline, for all or some of its raw features.

    It has the methods `save`, `export`, `build` and `measure` of this package's estimators;
    `measure` requires all raw features.
    """

    model: Model
    classifier: DeviceClassifier = field(repr=False)  # the pipeline's last step
    features: AffineMap = field(repr=False)  # the map of the steps before it

    def to_model(self) -> Model:
        """Return the model."""
        return self.model

    def _labelled(self, X: ArrayLike, y: ArrayLike) -> tuple[Float32, Indices]:
        points = self.features.taken(X, "X")
        return points, self.classifier.indices_of(y, len(points))


def from_pipeline(pipeline: Pipeline, X: ArrayLike | None = None) -> PipelineModel:
    """Make one model of a fitted pipeline that ends in a classifier of this package.

    Scalers become part of the model of raw features, so they take no time on a device. The model
    uses only the features that the pipeline selects; ``record["columns"]`` contains their indices.
    The model records the imputers' values, so gaps in tables are filled.

    Parameters
    ----------
    pipeline : Pipeline, or a fitted search for the best one, such as GridSearchCV
        Any number of StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer,
        OneHotEncoder, selectors with `get_support`, such as SelectKBest, SelectFromModel and
        VarianceThreshold, and ColumnTransformer and Pipeline of these; then a classifier such as a
        ProtoNNClassifier.
    X : array of shape (n, D), optional
        Raw training points, whose decimals determine the units of features in sketches; by default,
        the features' ranges determine them.

    Raises
    ------
    InputError
        If there is any other step, the classifier is from another package, or its features
        cannot include a scaling.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protonn_edge import from_pipeline
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
    >>> digits = load_digits_dataset()
    >>> pipeline = make_pipeline(StandardScaler(), ProtoNNClassifier(epochs=5, random_state=0))
    >>> converted = from_pipeline(pipeline.fit(digits.X_train, digits.y_train))
    >>> converted.model.n_features
    64
    """
    pipeline = getattr(pipeline, "best_estimator_", pipeline)  # of a search for parameters
    if not isinstance(pipeline, Pipeline):
        raise InputError(f"a {type(pipeline).__name__} is not a Pipeline; pass a fitted pipeline")
    *steps, (_, classifier) = pipeline.steps or [("", None)]
    if not isinstance(classifier, DeviceClassifier):
        raise InputError(
            f"the pipeline ends in an object of the type {type(classifier).__name__}, which is not "
            "a classifier of protonn-edge; convert the pipeline with from_sklearn"
        )
    check_fitted(classifier)
    fitted = (getattr(step, "n_features_in_", None) for _, step in (*steps, ("", classifier)))
    n_features = int(next(count for count in fitted if count is not None))
    features = affine_map(AffineMap.identity(n_features), steps)
    features = replace(features, raw_names=raw_names_of(pipeline, n_features))
    model = classifier.to_model(feature_names=features.names(pipeline) or None)
    model = _scaled(model, features) if features.scales else model
    model = replace(model, record={**model.record, **features.record})
    if X is not None:
        model = model.with_units_of(features.taken(X, "X"))
    return PipelineModel(model, classifier, features)


def _scaled(model: Model, scaling: AffineMap) -> Model:
    """Return a model with the same scores for features before a scaling."""
    if scaling.axes is not None:
        raise InputError(
            "the pipeline has a PCA, which cannot be expressed as a scale per feature; leave the "
            "PCA out (ProtoNN and Bonsai learn projections of their own)"
        )
    if not (scaling.scale > 0).all():
        feature = int(np.argmin(scaling.scale > 0))
        raise InputError(
            f"the pipeline scales feature {feature} by {scaling.scale[feature]:g}, but factors "
            "must be above 0; fit the scaler on features that vary"
        )
    if model.feature_stage is not None:
        raise InputError(
            f"the model {model.feature_stage.does} on the device, which receives only raw values; "
            "fit the pipeline without the scalers"
        )
    if model.normalizer.kind == "l2":
        raise InputError(
            "the classifier scales points to unit norm, which cannot be combined with the "
            "pipeline's scalers; fit it with normalization='standard', or without the scalers"
        )
    # A scaler makes z = (x - offset) scale + shift, the normalizer then (z - offset') scale'.
    raw = {
        name: (getattr(model.inputs, name) - scaling.shift) / scaling.scale + scaling.offset
        for name in _ENDS
    }
    before = model.normalizer
    offset = (before.offset - scaling.shift) / scaling.scale + scaling.offset
    kind = "standard" if before.kind == "none" else before.kind  # now with an offset and a scale
    return replace(
        model,
        normalizer=Normalizer(kind, offset, before.scale * scaling.scale),
        inputs=InputStatistics(**raw, deviation=model.inputs.deviation / scaling.scale),
        raw_exponents=None,
    )
