"""Convert a pipeline of scikit-learn's scalers and a classifier of this package to one model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from protonn_edge.conversion.affine import AffineMap, affine_map
from protonn_edge.conversion.reading import check_fitted
from protonn_edge.errors import InputError
from protonn_edge.model import InputStatistics, Model, Normalizer
from protonn_edge.training import DeviceClassifier

_ENDS = ("lower", "upper", "mean", "background")


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
    >>> from protonn_edge.conversion import from_pipeline
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.training import ProtoNNClassifier
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
    return model if X is None else model.with_units_of(model.checked_points(X).astype(np.float32))


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
