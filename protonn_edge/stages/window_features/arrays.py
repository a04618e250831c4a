"""Window features in a model file: their declaration as JSON, in models of windows alone."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from protonn_edge.errors import InputError
from protonn_edge.stages.array_checks import Arrays, parsed_json
from protonn_edge.stages.window_features.declaration import FeatureSet
from protonn_edge.stages.window_features.stage import WindowFeatureStage


def to_arrays(window_features: WindowFeatureStage | None) -> Arrays:
    """Return the bytes of the declaration; nothing without window features."""
    if window_features is None:
        return {}
    declared = asdict(window_features) | {"features": window_features.features.text}
    text = json.dumps(declared, sort_keys=True, allow_nan=False)
    return {"pipeline": np.frombuffer(text.encode(), dtype=np.uint8)}


def from_arrays(arrays: Arrays) -> WindowFeatureStage | None:
    """Return the window features of a model file's arrays, or None.

    Raises
    ------
    InputError
        If the array is no declaration, or there are no such features.
    """
    if "pipeline" not in arrays:
        return None
    declared = parsed_json(arrays["pipeline"], "pipeline")
    wanted = {"features": str, "window": int, "channels": int, "zero": list, "step": list}
    rate = declared.pop("rate", None) if isinstance(declared, dict) else None
    usable = (
        isinstance(declared, dict)
        and {name: type(value) for name, value in declared.items()} == wanted
        and all(type(number) is float for name in ("zero", "step") for number in declared[name])
        and (rate is None or type(rate) is float)
    )
    if not usable:
        raise InputError(
            "array 'pipeline' is not the declaration of window features; train the model again"
        )
    features = FeatureSet.of(declared.pop("features"))
    return WindowFeatureStage(features, rate=rate, **declared)
