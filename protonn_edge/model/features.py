"""The features of a model: the form of its raw points, and the stages that compute features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.model import stored
from protonn_edge.model.checks import set_checked
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.point_format import PointFormat
from protonn_edge.model.signals import Signal
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

_VALUES_AT_ONCE = 2**20  # raw values whose features are computed at once


@dataclass(frozen=True, eq=False)
class Features:
    """What computes the inputs of a classifier from raw points: a chain of stages, from bytes.

    The last stage may need the classifier's inputs; before these are known, its values are floats.
    Without stages, the inputs are the bytes of raw points.

    Raises `InputError` if the stages do not fit together.
    """

    points: PointFormat  # the form of raw points, which become the bytes
    stages: tuple[FeatureStage, ...]

    def __post_init__(self) -> None:
        given = self.points.n_features
        for number, stage in enumerate(self.stages):
            if stage.n_inputs != given:
                raise InputError(
                    f"stage {number + 1} of the features takes {stage.n_inputs:,} values, but "
                    f"receives {given:,}; train the model again"
                )
            given = stage.n_outputs
        linked: tuple[FeatureStage, ...] = ()
        sources: tuple[PointFormat | FeatureStage, ...] = (self.points, *self.stages)
        for before, stage in reversed([*zip(sources, self.stages, strict=False)]):
            linked = (stage.among(before, linked), *linked)
        set_checked(self, "stages", linked)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Features) and stored.same(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_outputs(self) -> int:
        """Number of features, the D inputs of the classifier."""
        return self.stages[-1].n_outputs if self.stages else self.points.n_features

    def ranged(self, statistics: InputStatistics) -> InputStatistics:
        """Return the statistics of its values, with the ranges that these need."""
        if self.stages:
            return self.stages[-1].ranged(statistics)
        return statistics.of_whole_numbers(self.points.scale.maximum)

    def apply(self, X: Array) -> Array:
        """Return features (n, D) of raw points (n, features): float32 for float32, else float64.

        They are exactly the values of the integer stages before their conversion to bytes, so that
        a model is trained on the features of the device. Memory is bounded for many points.
        """
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        features = np.empty((len(X), self.n_outputs), dtype)
        at_once = max(1, _VALUES_AT_ONCE // self.points.n_features)
        for start in range(0, len(X), at_once):
            rows = slice(start, start + at_once)
            features[rows] = run_through(self.stages, self.points.to_bytes(X[rows]))
        return features


def feeding(features: Features | None, inputs: InputQuantizer) -> tuple[FeatureStage, ...]:
    """Return the stages that compute a classifier's inputs; `inputs` converts features."""
    stages = () if features is None else features.stages
    return (*stages[:-1], *(stage.feeding(inputs) for stage in stages[-1:]))


def signal_of(features: Features | None) -> Signal | None:
    """Return the samples of a raw point that is a signal; otherwise None."""
    return None if features is None else features.points.signal
