"""The stage that computes features of windows; `windows` defines them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from protonn_edge.features.window_features.windows import Windows
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_stage import Range
from protonn_edge.model.point_format import PointFormat, check_points
from protonn_edge.model.raw_inputs import RawQuantizer, raw_quantizer
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array


@dataclass(frozen=True, eq=False)
class IntegerWindowFeatures(FeatureStage):
    """Maps the samples of a window to its features, quantized to bytes."""

    kind: ClassVar[str] = "window_features"

    window: Windows  # the features
    # the quantizer of features; None before the classifier's inputs are known
    quantizer: RawQuantizer | None = field(default=None, metadata={"stored": False})

    @property
    def n_inputs(self) -> int:
        """Samples of all channels."""
        return self.window.n_features

    @property
    def n_outputs(self) -> int:
        """Features of all channels."""
        return self.window.n_outputs

    @property
    def output(self) -> Range:
        """The range of the bytes."""
        assert self.quantizer is not None
        return Range.of_bytes(self.window.n_outputs, self.quantizer.maximum)

    def among(self, before: FeatureStage | PointFormat, _: tuple[FeatureStage, ...], /) -> Self:
        """Return the stage, if it comes first."""
        check_points(before, self.kind, (self.window.window, self.window.channels), "window")
        return self

    def run(self, x: Array) -> Array:
        """Return the features (n, F) of windows of bytes (n, N C), as bytes if quantized."""
        features = self.window.of_bytes(x)
        return features if self.quantizer is None else self.quantizer.quantize(features)

    def ranged(self, statistics: InputStatistics) -> InputStatistics:
        """Return the statistics unchanged, because each feature has its own range."""
        return statistics

    def feeding(self, inputs: InputQuantizer) -> Self:
        """Return the stage whose features are quantized to a classifier's inputs."""
        return replace(self, quantizer=raw_quantizer(inputs))
