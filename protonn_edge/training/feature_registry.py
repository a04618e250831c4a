"""The kinds of features that a classifier can be trained with: a base each."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.features.audio.train import AudioParameters
from protonn_edge.features.average_pooling.train import AveragePoolingParameters
from protonn_edge.features.convolution.train.parameters import ConvolutionParameters
from protonn_edge.features.gradients.train import GradientParameters


@dataclass(kw_only=True, eq=False, repr=False)
class AllFeatures(
    AveragePoolingParameters,
    AudioParameters,
    GradientParameters,
    ConvolutionParameters,
):
    """The parameters of all kinds of features, which are in every classifier and its settings."""
