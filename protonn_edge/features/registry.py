"""The kinds of stages that compute features, one per line."""

from __future__ import annotations

from protonn_edge.chain.array_checks import Arrays
from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.errors import InputError
from protonn_edge.features.audio.stage import AudioStage
from protonn_edge.features.average_pooling.pooling import AveragePooling
from protonn_edge.features.convolution.stage import Convolutions
from protonn_edge.features.gradients.gradients import Gradients
from protonn_edge.features.window_features.stage import WindowFeatureStage

FEATURE_STAGES: dict[str, type[FeatureStage]] = {
    kind.kind: kind
    for kind in (
        AveragePooling,
        WindowFeatureStage,
        Gradients,
        Convolutions,
        AudioStage,
    )
}
"""The float forms, by their kinds."""


def array_names() -> tuple[str, ...]:
    """Return the names of the arrays of all kinds."""
    return tuple(name for kind in FEATURE_STAGES.values() for name in kind.ARRAYS)


def to_arrays(stage: FeatureStage | None) -> Arrays:
    """Return the arrays of a model file for a stage, or for none."""
    arrays: Arrays = {}
    for kind in FEATURE_STAGES.values():
        arrays |= kind.ABSENT
    return arrays if stage is None else arrays | stage.to_arrays()


def from_arrays(arrays: Arrays) -> FeatureStage | None:
    """Return the stage of a model file's arrays, or None.

    Raises
    ------
    InputError
        If an array is invalid, or there are stages of two kinds.
    """
    found = [kind.from_arrays(arrays) for kind in FEATURE_STAGES.values()]
    stages = [stage for stage in found if stage is not None]
    if len(stages) > 1:
        raise InputError(
            f"the model {' and '.join(stage.does for stage in stages)}; train it again with one of "
            "the two"
        )
    return stages[0] if stages else None
