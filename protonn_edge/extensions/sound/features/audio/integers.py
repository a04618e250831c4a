"""The stage that computes features of a clip of sound; `frames` defines the computation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.sound.features.audio.frames import FEATURE_MAXIMUM, Frames
from protonn_edge.extensions.sound.onset import LEVEL_SHIFT, check_onset
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.integer_stage import Range
from protonn_edge.model.point_format import PointFormat, check_points
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array


@dataclass(frozen=True, eq=False)
class IntegerAudio(FeatureStage):
    """Maps the samples of a clip to its features."""

    kind: ClassVar[str] = "audio"

    level_shift: ClassVar[int] = LEVEL_SHIFT

    clip: Frames  # the bands, with values that provably fit 16 bits, and the frames
    onset: int  # the threshold at which a clip begins, for `pnn_onset`; see `onset`

    def __post_init__(self) -> None:
        """Refuse a threshold that is too low or too high."""
        check_onset(self.onset)

    @property
    def n_inputs(self) -> int:
        """Samples."""
        return self.clip.n_features

    @property
    def output(self) -> Range:
        """The range of the features."""
        return Range.of_bytes(self.clip.n_outputs, FEATURE_MAXIMUM)

    def among(self, before: FeatureStage | PointFormat, _: tuple[FeatureStage, ...], /) -> Self:
        """Return the stage, if it comes first."""
        check_points(before, self.kind, (self.clip.n_features, 1), "clip")
        return self

    def run(self, x: Array) -> NDArray[np.uint8]:
        """Return the features (n, D) of clips of bytes (n, samples)."""
        return self.clip.of_bytes(x)

    def ranged(self, statistics: InputStatistics) -> InputStatistics:
        """Return the statistics of features, which a classifier takes unchanged."""
        return statistics.of_whole_numbers(FEATURE_MAXIMUM)
