"""Scikit-learn's scalers, selectors, imputers, one-hot encoder and PCA as one map of features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
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

from protonn_edge.data.naming import listed
from protonn_edge.extensions.conversion.affine import (
    AffineMap,
    Float64,
    raw_names_of,
    selected,
    text_of,
)
from protonn_edge.extensions.conversion.reading import (
    attribute,
    check_fitted,
    flag_of,
    numbers_of,
)
from protonn_edge.extensions.conversion.turning import turned
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.deployment import Deployable
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.model import Model, with_units_of
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError, InvalidValue

Reader = Callable[["AffineMap", Any], "AffineMap"]
_ENDS = ("lower", "upper", "mean", "background")


def affine_map(affine: AffineMap, transformers: list[tuple[str, Any]]) -> AffineMap:
    """Return a map with a pipeline's fitted transformers after it; unknown ones are refused."""
    for name, transformer in transformers:
        if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
            continue
        selects = _selected if hasattr(transformer, "get_support") else None
        then, step = _READERS.get(type(transformer), selects), f"step {str(name)[:40]!r}"
        if then is None:
            readable = ", ".join(sorted(each.__name__ for each in _READERS))
            found = type(transformer).__name__
            raise _unusable(step, f"{found}, expected a feature selector or one of {readable}")
        try:
            affine = then(affine, transformer)
        except InputError as error:
            raise _unusable(step, str(error)) from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _unusable(step, "damaged") from error
    return affine


def _unusable(step: str, reason: str) -> InputError:
    return InvalidValue(
        f"{step} of the pipeline",
        f"not converted ({reason})",
        "fit the pipeline again without it, or with other parameters",
    )


def _pipeline(before: AffineMap, pipeline: object) -> AffineMap:
    return affine_map(before, attribute(pipeline, "steps"))


def _unchanged(before: AffineMap, transformer: Any) -> AffineMap:
    check(transformer.func is None, "FunctionTransformer.func", "a function", "None")
    return before


def _selected(before: AffineMap, selector: object) -> AffineMap:
    """Return the map with the features that a selector keeps."""
    kept = np.flatnonzero(attribute(selector, "get_support")())
    check(bool(kept.size), type(selector).__name__, "no features", "at least one")
    return selected(before, kept)


def _imputer(before: AffineMap, imputer: Any) -> AffineMap:
    """Return the map with gaps filled; features that had no values in training are left out."""
    empty = imputer.missing_values
    is_nan = isinstance(empty, float | np.floating) and np.isnan(empty)
    usual = before.axes is None and is_nan and not flag_of(imputer, "add_indicator")
    check(usual, "SimpleImputer", "indicators, other gaps, or a PCA before it", "NaN filled in")
    statistics = attribute(imputer, "statistics_")
    if any(isinstance(each, str) for each in statistics):
        raise InvalidValue("SimpleImputer.statistics_", "texts, expected numbers")
    statistics = np.array(statistics, dtype=np.float64)
    check(not np.isinf(statistics).any(), "SimpleImputer.statistics_", "infinity", "numbers")
    raw = (statistics - before.shift) / before.scale + before.offset
    fills = np.where(np.isnan(before.fills), raw, before.fills)
    return selected(replace(before, fills=fills), np.flatnonzero(~np.isnan(statistics)))


def _one_hot(before: AffineMap, encoder: object) -> AffineMap:
    """Return the map with a feature for each category of each column, as ``one-hot`` does."""
    changed = before.scales or before.has_text.any() or not np.isnan(before.fills).all()
    check(not changed, "OneHotEncoder", "changed columns", "the columns of the data")
    for name in ("drop", "min_frequency", "max_categories"):
        if (value := attribute(encoder, name)) is not None:
            raise InvalidValue(f"OneHotEncoder.{name}", f"{str(value)[:40]}, expected None")
    columns, texts = list[int](), list[str]()
    for column, categories in zip(before.columns, attribute(encoder, "categories_"), strict=True):
        of_column = [text_of(each) for each in categories.tolist()]
        distinct = None not in of_column and len({*of_column}) == len(of_column)
        check(distinct, "OneHotEncoder", listed(map(str, categories)), "distinct texts")
        columns += [int(column)] * len(of_column)
        texts += [str(text) for text in of_column]
    same = AffineMap.identity(len(columns))
    return replace(
        same,
        n_features=before.n_features,
        columns=np.array(columns, np.intp),
        texts=np.array(texts, np.object_),
    )


def _columns(before: AffineMap, transformer: object) -> AffineMap:
    """Return the map with the features of all parts of a ColumnTransformer."""
    weights = attribute(transformer, "transformer_weights")
    check(weights is None, "ColumnTransformer.transformer_weights", "weights", "None")
    columns, parts = attribute(transformer, "_transformer_to_input_indices"), []
    for name, part, _ in attribute(transformer, "transformers_"):
        indices = np.asarray(columns[name], dtype=np.intp)
        if len(indices) and not (isinstance(part, str) and part == "drop"):
            parts.append(affine_map(selected(before, indices), [(name, part)]))
    check(bool(parts), "ColumnTransformer", "no features", "at least one")
    turned = any(part.axes is not None for part in parts)
    check(not turned, "ColumnTransformer", "a PCA", "the PCA after it")
    joined = AffineMap.joined(parts)
    each = {*zip(joined.columns.tolist(), joined.texts, strict=True)}
    of_columns = {(column, text is None) for column, text in each}  # either texts or a number
    once = len(each) == len(joined.columns) and len(of_columns) <= len(np.unique(joined.columns))
    check(once, "ColumnTransformer", "a feature twice", "each feature once")
    return joined


def _centring(centre: str, centring: str, scaling: str) -> Reader:
    """Return the reader of scalers with this centre, and with flags for centring and scaling."""

    def read(before: AffineMap, scaler: object) -> AffineMap:
        k = before.n_outputs
        centred, scaled = flag_of(scaler, centring), flag_of(scaler, scaling)
        offset = numbers_of(scaler, centre, (k,)) if centred else np.zeros(k)
        scale = numbers_of(scaler, "scale_", (k,)) if scaled else np.ones(k)
        return before.scaled(offset, _inverse(scale, scaler))

    return read


def _minmax(before: AffineMap, scaler: object) -> AffineMap:
    check(not flag_of(scaler, "clip"), "MinMaxScaler.clip", True, "False")
    scale = numbers_of(scaler, "scale_", (before.n_outputs,))
    return before.scaled(-numbers_of(scaler, "min_", scale.shape) * _inverse(scale, scaler), scale)


def _maxabs(before: AffineMap, scaler: object) -> AffineMap:
    scale = numbers_of(scaler, "scale_", (before.n_outputs,))
    return before.scaled(np.zeros_like(scale), _inverse(scale, scaler))


def _pca(before: AffineMap, analysis: object) -> AffineMap:
    axes = numbers_of(analysis, "components_", (None, before.n_outputs))
    centre = numbers_of(analysis, "mean_", (before.n_outputs,))
    all_axes = axes if before.axes is None else axes @ before.axes
    turned = replace(before, axes=all_axes, shift=axes @ (before.shift - centre))
    if not flag_of(analysis, "whiten"):
        return turned
    variance = numbers_of(analysis, "explained_variance_", (len(axes),))
    deviation = np.maximum(np.sqrt(np.maximum(variance, 0.0)), np.finfo(np.float64).eps)
    return turned.scaled(np.zeros(len(axes)), 1.0 / deviation)


def _inverse(scale: Float64, scaler: object) -> Float64:
    check(bool((scale != 0).all()), f"{type(scaler).__name__}.scale_", 0, "other numbers")
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
        VarianceThreshold, and ColumnTransformer and Pipeline of these, and PCA; then a classifier
        such as a ProtoNNClassifier. After a PCA, it is a LinearClassifier, DenseClassifier or
        ProtoNNClassifier, or a regressor of these kinds.
    X : array of shape (n, D), optional
        Raw training points, whose decimals determine the units of features in sketches; by default,
        the features' ranges determine them. Required for a PCA.

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
    >>> from protonn_edge import load_digits_dataset
    >>> from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
    >>> digits = load_digits_dataset()
    >>> pipeline = make_pipeline(StandardScaler(), ProtoNNClassifier(epochs=5, random_state=0))
    >>> converted = from_pipeline(pipeline.fit(digits.X_train, digits.y_train))
    >>> converted.model.n_features
    64
    """
    pipeline = getattr(pipeline, "best_estimator_", pipeline)  # of a search for parameters
    if not isinstance(pipeline, Pipeline):
        raise InvalidValue(type(pipeline).__name__, "not a Pipeline", "pass a fitted pipeline")
    *steps, (_, classifier) = pipeline.steps or [("", None)]
    if not isinstance(classifier, DeviceClassifier):
        raise InvalidValue(
            "end of the pipeline",
            f"a {type(classifier).__name__}, which is not a classifier of protonn-edge",
            "convert the pipeline with from_sklearn",
        )
    check_fitted(classifier)
    fitted = (getattr(step, "n_features_in_", None) for _, step in (*steps, ("", classifier)))
    n_features = int(next(count for count in fitted if count is not None))
    features = affine_map(AffineMap.identity(n_features), steps)
    features = replace(features, raw_names=raw_names_of(pipeline, n_features))
    points = None if X is None else features.taken(X, "X")
    names = features.names(pipeline)
    if features.axes is not None:
        inputs = None if points is None else InputStatistics.of(points)
        model = turned(classifier.to_model(), features, names, inputs)
    else:
        model = classifier.to_model(feature_names=names or None)
        model = _scaled(model, features) if features.scales else model
    model = replace(model, record={**model.record, **features.record})
    if points is not None:
        model = with_units_of(model, points)
    return PipelineModel(model, classifier, features)


def _scaled(model: Model, scaling: AffineMap) -> Model:
    """Return a model with the same scores for features before a scaling."""
    if not (scaling.scale > 0).all():
        feature = int(np.argmin(scaling.scale > 0))
        raise InvalidValue(
            f"factor of feature {feature}",
            f"{scaling.scale[feature]:g}, expected a number above 0",
            "fit the scaler on features that vary",
        )
    if model.features is not None:
        raise InvalidValue(
            "scalers of the pipeline",
            "the model computes features of raw values on the device",
            "fit the pipeline without the scalers",
        )
    if model.normalizer.kind == "l2":
        raise InvalidValue(
            "scalers of the pipeline",
            "the classifier scales points to unit norm, which cannot be combined with them",
            "fit it with normalization='standard', or without the scalers",
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
