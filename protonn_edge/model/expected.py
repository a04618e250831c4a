"""What a trained model expects of points that are read for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.points.division import Division
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.model.features import signal_of
from protonn_edge.model.model import Model, why_clamped
from protonn_edge.model.shapes import Shape

Float64 = NDArray[np.float64]

_DEVIATIONS = 3.0


def expected_by(model: Model) -> Expected:
    """Return what a model requires of points, for `load_points`."""
    preparation = Preparation.of_record(model.record, model.n_features)
    facts = model.n_features, model.feature_names, model.classes, model.instrument
    signal = signal_of(model.features)
    rate = None if signal is None else signal.rate
    division = Division.of_record(model.record)
    return Expected(
        *facts,
        preparation=preparation,
        division=division,
        sample_rate=rate,
        predicts=model.policy.predicts,
    )


def known_image_shape(model: Model) -> Shape | None:
    """Return a point's height and width from the model or its training record, None if unknown."""
    if model.features is not None:
        return model.features.points.drawn_shape
    settings = model.record.get("settings")
    shape = settings.get("image_shape") if isinstance(settings, dict) else None
    if not (isinstance(shape, list) and [type(side) for side in shape] == [int, int]):
        return None
    if min(shape) < 1:
        return None
    return (shape[0], shape[1]) if shape[0] * shape[1] == model.n_features else None


def limits_of_training(model: Model, least: Float64, end: Float64) -> tuple[Float64, Float64]:
    """Return the ends (D,) of the training data's range, from those that bytes distinguish.

    The bytes of a forest need not cover the range, so it reaches three deviations from the mean.
    """
    if not why_clamped(model):
        return least, end
    mean, reach = model.inputs.mean, _DEVIATIONS * model.inputs.deviation
    return np.minimum(least, mean - reach), np.maximum(end, mean + reach)
