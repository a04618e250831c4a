"""The features that a search tries unless features are requested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn import features
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.learn.requests import REQUESTS


def alternatives(
    settings: FeatureParameters, X: NDArray[np.float32]
) -> Mapping[str, Mapping[str, Any]]:
    """Return the settings for points X (n, features), by name, that a search tries.

    They are features of windows or images, unless features are requested.

    Parameters that are incompatible with the features get their only possible values.
    """
    asked = settings.asked
    if isinstance(asked, features.AutoRequest):
        return {text: {"features": text} for text in features.texts_for(settings, X)}
    variants: dict[str, Mapping[str, Any]] = {features.NO_FEATURES: {}}
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
