"""Ways to train ProtoNN, as settings, those of extensions among them; and digits to train it on."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from extension_parts import additions

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.registry import ESTIMATOR, ESTIMATORS, variants

OPTIMIZERS: dict[str, dict[str, Any]] = {"joint": {}, **additions("optimizers")}
LOSSES: dict[str, dict[str, Any]] = {"cross_entropy": {}, **additions("losses")}

DIGITS = load_digits_dataset()


def estimator_with(kind: str, names: Collection[str]) -> Any:
    """Return the estimator of a kind, or its first variant, that has these parameters, or None."""
    every = (ESTIMATORS[kind], *variants(kind, ESTIMATOR))
    return next((each for each in every if each.parameters.keys() >= {*names}), None)


def protonn(**settings: Any) -> ProtoNNClassifier:
    """Return a ProtoNN classifier, or the variant of an extension that has these settings."""
    made: ProtoNNClassifier = estimator_with("protonn", settings)(**settings)
    return made


def fit(**settings: Any) -> ProtoNNClassifier:
    """Return a small ProtoNN classifier of all digits, trained briefly unless told otherwise."""
    small = {"n_projections": 8, "n_prototypes": 30, "epochs": 10, "random_state": 0}
    return protonn(**{**small, **settings}).fit(DIGITS.X_train, DIGITS.y_train)
