"""Read fitted classifiers of scikit-learn and other libraries: their features and their rules.

NumPy computes each rule from checked numbers, without the estimator's own code. The rules are in
the folders of the kinds of models that they become, in ``convert``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin, RegressorMixin
from sklearn.pipeline import Pipeline

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.affine import AffineMap, raw_names_of
from protonn_edge.extensions.conversion.readers import OTHER_TYPES, READERS
from protonn_edge.extensions.conversion.scaling import affine_map
from protonn_edge.extensions.conversion.search import NUMBER, FittedEstimator
from protonn_edge.extensions.conversion.trees.libraries import of_library
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError, InvalidValue


def read_estimator(estimator: object, n_features: int | None = None) -> FittedEstimator:
    """Read a fitted classifier of D features, or a pipeline that ends in one, or refuse it.

    Without D, this is the number of features that the estimator was fitted with.
    """
    estimator = getattr(estimator, "best_estimator_", estimator)  # of a search for parameters
    *before, (_, classifier) = _steps(estimator)
    unchanging = (None, "passthrough")
    first = next((step for _, step in before if step not in unchanging), classifier)
    if n_features is None:
        n_features = getattr(first, "n_features_in_", 0)
    _check_features(first, n_features)
    features = affine_map(AffineMap.identity(n_features), before)
    stored = _stored(classifier, features.n_outputs)
    _check_features(stored, features.n_outputs)
    named = estimator if before else stored
    names = features.names(named)
    features = replace(features, raw_names=raw_names_of(named, n_features))
    return FittedEstimator(stored.name, features, stored.rule, stored.classes_, names)


def _stored(classifier: Any, k: int) -> reading.StoredClassifier:
    """Return a classifier of k features."""
    is_stored = isinstance(classifier, reading.StoredClassifier)
    stored = classifier if is_stored else of_library(classifier)
    if stored is not None:
        return stored
    name = type(classifier).__name__
    if isinstance(classifier, DeviceClassifier):
        raise InvalidValue(
            name,
            "it already trains models for devices",
            "call its method to_model(), or pass its Pipeline to from_pipeline",
        )
    if isinstance(classifier, OutlierMixin):
        raise InvalidValue(
            name,
            "it finds outliers and cannot be converted",
            "train a model of one class with 'protonn-edge train --one-class' instead",
        )
    if type(classifier) not in READERS and isinstance(classifier, RegressorMixin):
        raise InputError(
            f"the {name} predicts numbers and cannot be converted; train a model of these numbers "
            f"with 'protonn-edge train', or pass a fitted {_known(numbers=True)}"
        )
    if type(classifier) not in READERS:
        raise InputError(
            f"objects of the type {name} cannot be converted; pass a fitted "
            f"{_known(numbers=False)}, or a Pipeline that ends in one of these, or export "
            "a neural network as ONNX and pass the file to from_network"
        )
    try:
        reading.check_fitted(classifier)
        labels = _class_labels(classifier)
        rule = READERS[type(classifier)](classifier, k, len(labels))
    except InvalidValue as error:
        raise error.within(name, "fit it again, or with other parameters") from error
    names = getattr(classifier, "feature_names_in_", np.array([], str))
    return reading.StoredClassifier(name, rule, k, names, labels)


def _class_labels(estimator: object) -> Array:
    """Return the labels (L,) of a fitted estimator's answers."""
    if isinstance(estimator, RegressorMixin):
        return np.array([NUMBER])
    labels = reading.class_labels(estimator)
    if labels.ndim != 1:
        raise reading.several_outputs(estimator)
    check(
        len(labels) > 1, f"classes of the {type(estimator).__name__}", len(labels), "at least two"
    )
    return labels


def _known(*, numbers: bool) -> str:
    """Return the names of what can be converted: regressors, or all others."""
    names = {each.__name__ for each in READERS if issubclass(each, RegressorMixin) == numbers}
    names |= {name for name in OTHER_TYPES if name.endswith("Regressor") == numbers}
    return ", ".join(sorted(names)) or "classifier"


def _steps(estimator: object) -> list[tuple[Any, Any]]:
    """Return the steps of a pipeline, at least one, or the estimator as the only one."""
    if type(estimator) is not Pipeline:
        return [("", estimator)]
    steps = getattr(estimator, "steps", None)
    steps = steps if isinstance(steps, list) else []
    pairs = all(isinstance(step, tuple | list) and len(step) == 2 for step in steps)
    check(pairs and bool(steps), "Pipeline.steps", "others", "pairs of a name and a step")
    return [(name, step) for name, step in steps]


def _check_features(first: Any, n_features: int) -> None:
    """Refuse points with another number of features than a step or a classifier has."""
    is_stored = isinstance(first, reading.StoredClassifier)
    name = first.name if is_stored else type(first).__name__
    wanted = getattr(first, "n_features_in_", n_features)
    whole = isinstance(wanted, int | np.integer)
    check(whole, f"{name}.n_features_in_", repr(wanted), "a number")
    check(wanted == n_features, "features of the points", n_features, f"{wanted:,}, as the {name}")
