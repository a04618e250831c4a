"""Scikit-learn's scalers and its PCA as one affine map of features, for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from protonn_edge.chain.model import Model, checked_points
from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.conversion.reading import check_fitted, flag_of, numbers_of
from protonn_edge.errors import InputError
from protonn_edge.training.base import DeviceClassifier

Float64 = NDArray[np.float64]


Reader = Callable[["AffineMap", Any], "AffineMap"]
_ENDS = ("lower", "upper", "mean", "background")


@dataclass(frozen=True, eq=False)
class AffineMap:
    """Maps raw features x (D,) to an estimator's, ``axes @ ((x - offset) * scale) + shift``."""

    offset: Float64  # (D,): in the unit of the feature, and one over it
    scale: Float64
    axes: Float64 | None  # (k, D): None is the identity
    shift: Float64  # (k,)

    @classmethod
    def identity(cls, n_features: int) -> Self:
        """Return the identity of D features."""
        zeros = np.zeros(n_features)
        return cls(zeros, np.ones(n_features), None, zeros)

    @property
    def n_outputs(self) -> int:
        """k, the number of the estimator's own features."""
        return len(self.shift)

    def apply(self, X: NDArray[Any]) -> Float64:
        """Return the estimator's features (n, k) of points (n, D)."""
        scaled: Float64 = (X - self.offset) * self.scale
        return (scaled if self.axes is None else scaled @ self.axes.T) + self.shift

    def weights(self, W: Float64) -> Float64:
        """Return W (d, k), a matrix for the estimator's features, for raw ones: (d, D)."""
        return (W if self.axes is None else W @ self.axes) * self.scale

    def scaled(self, offset: Float64, scale: Float64) -> Self:
        """Return this map with ``(z - offset) * scale`` after it."""
        if self.axes is None:
            # (((x - o) s + t) - offset) scale; a feature that s makes constant stays so in `shift`.
            return replace(self, scale=self.scale * scale, shift=(self.shift - offset) * scale)
        return replace(self, axes=self.axes * scale[:, None], shift=(self.shift - offset) * scale)

    def turned(self, axes: Float64, centre: Float64) -> Self:
        """Return this map with ``axes @ (z - centre)`` after it."""
        return replace(
            self,
            axes=axes if self.axes is None else axes @ self.axes,
            shift=axes @ (self.shift - centre),
        )


def affine_map(transformers: list[tuple[str, Any]], n_features: int) -> AffineMap:
    """Return the affine map of a pipeline's fitted transformers; refuse others."""
    found = AffineMap.identity(n_features)
    for name, transformer in transformers:
        if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
            continue
        then = _READERS.get(type(transformer))
        if then is None:
            known = ", ".join(sorted(each.__name__ for each in _READERS))
            raise InputError(
                f"the pipeline's step {str(name)[:40]!r} is a {type(transformer).__name__}; a step "
                f"before the classifier can be one of {known}"
            )
        found = then(found, transformer)
    return found


def _centring(centre: str, centring: str, scaling: str) -> Reader:
    """Return the reader of scalers with this centre, and flags whether they use it and scale."""

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
            "the MinMaxScaler clips, which a matrix cannot do; fit one with clip=False"
        )
    scale = numbers_of(scaler, "scale_", (before.n_outputs,))
    return before.scaled(-numbers_of(scaler, "min_", scale.shape) * _inverse(scale, scaler), scale)


def _maxabs(before: AffineMap, scaler: Any) -> AffineMap:
    scale = numbers_of(scaler, "scale_", (before.n_outputs,))
    return before.scaled(np.zeros_like(scale), _inverse(scale, scaler))


def _pca(before: AffineMap, analysis: Any) -> AffineMap:
    axes = numbers_of(analysis, "components_", (None, before.n_outputs))
    centre = numbers_of(analysis, "mean_", (before.n_outputs,))
    found = before.turned(axes, centre)
    if not flag_of(analysis, "whiten"):
        return found
    variance = numbers_of(analysis, "explained_variance_", (len(axes),))
    deviation = np.maximum(np.sqrt(np.maximum(variance, 0.0)), np.finfo(np.float64).eps)
    return found.scaled(np.zeros(len(axes)), 1.0 / deviation)


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
    RobustScaler: _centring("center_", "with_centering", "with_scaling"),
    PCA: _pca,
}


def from_pipeline(pipeline: Pipeline, X: ArrayLike | None = None) -> Model:
    """Return the model of a fitted pipeline of scalers and a classifier of this package.

    The scalers become part of the model of raw features, so they take no time on a device.

    Parameters
    ----------
    pipeline : Pipeline
        Any number of StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler, and for example
        a ProtoNNClassifier.
    X : array of shape (n, D), optional
        Raw training points, whose decimals determine the units in which a sketch passes features;
        without them the ranges do.

    Raises
    ------
    InputError
        If a step is not a scaler, the classifier is of another package, or its features cannot
        include a scaling.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protonn_edge import from_pipeline
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
    >>> digits = load_digits_dataset()
    >>> pipeline = make_pipeline(StandardScaler(), ProtoNNClassifier(epochs=5, random_state=0))
    >>> model = from_pipeline(pipeline.fit(digits.X_train, digits.y_train))
    >>> model.n_features
    64
    """
    if not isinstance(pipeline, Pipeline):
        raise InputError(
            f"a {type(pipeline).__name__} is not a Pipeline; give the complete pipeline"
        )
    *scalers, (_, classifier) = pipeline.steps or [("", None)]
    if not isinstance(classifier, DeviceClassifier):
        raise InputError(
            f"the pipeline ends in a {type(classifier).__name__}, which is not a classifier of "
            "protonn-edge; convert it with from_sklearn"
        )
    check_fitted(classifier)
    names = tuple(map(str, getattr(pipeline, "feature_names_in_", ())))
    model = classifier.to_model(feature_names=names or None)
    scaling = affine_map(scalers, _features_of(scalers, model))
    if scalers:
        model = _behind(scaling, model)
    return model if X is None else model.with_units_of(checked_points(model, X).astype(np.float32))


def _features_of(scalers: list[tuple[str, Any]], model: Model) -> int:
    """Return the number of features of the first scaler, or else of the model."""
    fitted = (getattr(scaler, "n_features_in_", None) for _, scaler in scalers)
    return int(next((count for count in fitted if count is not None), model.n_features))


def _behind(scaling: AffineMap, model: Model) -> Model:
    """Return a model with the same scores for features before a scaling."""
    if scaling.axes is not None:
        raise InputError(
            "the pipeline has a PCA, which scaling single features cannot replace; leave it out: "
            "the classifier learns its own projection"
        )
    if not (scaling.scale > 0).all():
        feature = int(np.argmin(scaling.scale > 0))
        raise InputError(
            f"the pipeline scales feature {feature} by {scaling.scale[feature]:g}; fit a scaler on "
            "features that vary"
        )
    if model.feature_stage is not None:
        raise InputError(
            f"the model {model.feature_stage.does} of raw values, which the device has and scaled "
            "ones are not; fit it without the scalers"
        )
    if model.normalizer.kind == "l2":
        raise InputError(
            "the classifier scales points to unit norm, which cannot be combined with another "
            "scaling; fit it with normalization='standard', or without the scalers"
        )
    # A scaler makes z = (x - offset) scale + shift, the normalizer then (z - offset') scale'.
    raw = {
        name: (getattr(model.inputs, name) - scaling.shift) / scaling.scale + scaling.offset
        for name in _ENDS
    }
    before = model.normalizer
    offset = (before.offset - scaling.shift) / scaling.scale + scaling.offset
    kind = "standard" if before.kind == "none" else before.kind  # it has an offset and a scale now
    return replace(
        model,
        normalizer=Normalizer(kind, offset, before.scale * scaling.scale),
        inputs=InputStatistics(**raw, deviation=model.inputs.deviation / scaling.scale),
        raw_exponents=None,
    )
