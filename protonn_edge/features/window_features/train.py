"""The parameters of features of windows of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chain.feature_stage import FeatureStage, Shape
from protonn_edge.features.audio.stage import AudioStage
from protonn_edge.features.window_features import FeatureSet, WindowFeatureStage
from protonn_edge.features.window_features.stage import SAMPLE_RATES
from protonn_edge.training.feature_parameters import FeatureParameters
from protonn_edge.training.parameters import WINDOW_SHAPE, Number, parameter
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import (
    AUGMENTED,
    IN_BLOCKS,
    OTHER_FEATURES,
    SPARSE,
    Refusal,
    all_at_once,
    but,
    models_all_at_once,
)

KIND = WindowFeatureStage.kind

_OF_SAMPLES = frozenset((KIND, AudioStage.kind))
"""What `features` can ask for."""


@dataclass(kw_only=True, eq=False, repr=False)
class WindowFeatureParameters(FeatureParameters):
    """Parameters of features of windows.

    Parameters
    ----------
    features : str, default=None
        Features of windows of raw samples, made before anything else, on the device too, such as
        ``"mean,deviation,min,max,crossings,bands:4"``: see `stages.window_features`. The model then
        has an input for each feature, not for each sample.
    window_shape : tuple of two int, default=None
        Samples of a channel in a window, and channels; None is one channel.
    sample_rate : float, default=None
        Samples of a channel a second, kept in the model for sketches.
    """

    features: str | None = parameter(
        None,
        str,
        None,
        help="Features of windows of samples, such as mean,max,bands:4, or audio:12x20.",
        option="--features",
        common=True,
    )
    window_shape: Shape | None = parameter(
        None,
        WINDOW_SHAPE,
        None,
        help="Samples and channels of a window, such as 128x3.",
        option="--window",
        common=True,
    )
    sample_rate: float | None = parameter(
        None,
        Number(float, *SAMPLE_RATES),
        None,
        help="Samples a second, for sketches.",
        option="--sample-rate",
        common=True,
    )

    asked_by: ClassVar[dict[str, str]] = {KIND: "features"}
    refusals: ClassVar[tuple[Refusal, ...]] = (
        all_at_once("features"),
        models_all_at_once(KIND, "windows of samples"),
        Refusal(
            lambda case: case.model is not None and case.settings.features is not None,
            "features are given, but the model to start from has its own or none; leave "
            "{features} out",
        ),
        Refusal(
            lambda case: case.settings.window_shape is not None and not case.kinds & _OF_SAMPLES,
            "{window_shape} is given, but no features of windows are; choose some with "
            "{features}, or leave it out",
        ),
        *but(
            lambda case: bool(case.kinds & _OF_SAMPLES),
            "features of windows are to be computed, but <but>; leave {features} out",
            SPARSE,
            OTHER_FEATURES,
            Refusal(
                lambda case: case.settings.deskew or case.settings.cropped_shape is not None,
                "images are to be deskewed or cropped",
            ),
            AUGMENTED,
            IN_BLOCKS,
        ),
    )

    def feature_stage_for(self, points: Float32, weights: Float32 | None) -> FeatureStage | None:
        """Return features of windows where they are asked for."""
        if self.features is None:
            return super().feature_stage_for(points, weights)
        shape = self.window_shape or (points.shape[1], 1)
        features = FeatureSet.of(self.features)
        return WindowFeatureStage.fitted(features, shape, points, self.sample_rate)
