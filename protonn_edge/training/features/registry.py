"""The kinds of features that a classifier can be trained with: a base each."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.training.features.audio import AudioParameters
from protonn_edge.training.features.average_pooling import AveragePoolingParameters
from protonn_edge.training.features.convolutions import ConvolutionParameters
from protonn_edge.training.features.gradients import GradientParameters


@dataclass(kw_only=True, eq=False, repr=False)
class AllFeatures(
    AveragePoolingParameters,
    AudioParameters,
    GradientParameters,
    ConvolutionParameters,
):
    """The parameters of all kinds of features, which are in every classifier and its settings."""
