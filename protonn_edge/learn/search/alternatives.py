"""The features that a search tries unless features are requested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protonn_edge.learn import features
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.learn.requests import REQUESTS


def alternatives(settings: FeatureParameters) -> Mapping[str, Mapping[str, Any]]:
    """Return the settings, by name, that a search tries unless features are requested.

    Parameters that are incompatible with the features get their only possible values.
    """
    variants: dict[str, Mapping[str, Any]] = {features.NO_FEATURES: {}}
    asked = settings.asked
    if settings.image_shape is None:
        return variants
    cropped = asked.cropped_shape if isinstance(asked, features.ImageRequest) else None
    before = f"{settings.features}," if asked is not None else ""
    if asked is not None:
        variants.clear()  # images are to be prepared, which is only possible with features
    for kind in REQUESTS:
        for text, others in kind.alternatives(cropped or settings.image_shape):
            variants[text] = {"features": before + text, **others}
    return variants
