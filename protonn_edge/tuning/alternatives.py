"""The features and kinds of classifiers to choose from, if that is left to the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from protonn_edge.errors import InputError
from protonn_edge.kinds.train import CLASSIFIERS
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.compatibility import check_compatible
from protonn_edge.training.feature_parameters import NO_FEATURES
from protonn_edge.training.feature_stages import count_inputs
from protonn_edge.training.refusals import Case


@dataclass(frozen=True)
class Alternative:
    """A choice of features before a classifier.

    Attributes
    ----------
    settings : mapping
        The classifier's settings for it.
    n_inputs : int
        D, the number of values that it makes of a point.
    """

    settings: Mapping[str, Any]
    n_inputs: int


def alternatives_of(
    kind: type[DeviceClassifier], fixed: Mapping[str, Any], X: Any
) -> dict[str, Alternative]:
    """Return the alternatives by name, without those that conflict with the fixed settings.

    There are none if these already choose features, or if only raw points would remain.

    Parameters
    ----------
    kind : type
        The kind of classifier.
    fixed : mapping
        Settings that all trials share.
    X : array of shape (n, features)
        Raw points.
    """
    given = kind(**fixed).training_settings()
    if given.kinds_asked or given.initial_model is not None:
        return {}
    found = {}
    for name, wanted in given.alternatives().items():
        own = {key: value for key, value in wanted.items() if key not in fixed}
        settings = kind(**{**fixed, **own}).training_settings()
        try:
            check_compatible(Case.of(settings, X, multilabel=False), kind.refusals)
            found[name] = Alternative(own, count_inputs(settings, X))
        except InputError:
            continue
    return {} if set(found) == {NO_FEATURES} else found


def kinds_for(fixed: Mapping[str, Any], X: Any) -> tuple[str, ...]:
    """Return the names of the kinds of classifiers compatible with fixed settings and points.

    Raises
    ------
    InputError
        If none is; the sentence of the first one.
    """
    found, refused = [], []
    for name, kind in CLASSIFIERS.items():
        settings = kind(**fixed).training_settings()
        try:
            check_compatible(Case.of(settings, X, multilabel=False), kind.refusals)
            found.append(name)
        except InputError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    return tuple(found)
