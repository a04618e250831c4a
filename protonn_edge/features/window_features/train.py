"""Features of windows of samples as a text asks for them: "mean,deviation,bands:4"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.features.audio.stage import AudioStage
from protonn_edge.features.window_features.stage import WindowFeatureStage
from protonn_edge.features.window_features.windows import FeatureSet
from protonn_edge.training.features import FeatureRequest
from protonn_edge.training.parameters import FeatureParameters
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import (
    AUGMENTED,
    IN_BLOCKS,
    SPARSE,
    Refusal,
    but,
    models_all_at_once,
)

_OF_SAMPLES = frozenset((WindowFeatureStage.kind, AudioStage.kind))


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowRequest(FeatureRequest):
    """Some features of each channel of a window."""

    kind: ClassVar[str] = WindowFeatureStage.kind
    form: ClassVar[str] = "mean,max,bands:4"
    of_samples: ClassVar[bool] = True
    refusals: ClassVar[tuple[Refusal, ...]] = (
        models_all_at_once(WindowFeatureStage.kind, "windows of samples"),
        Refusal(
            lambda case: case.settings.window_shape is not None and not case.kinds & _OF_SAMPLES,
            "{window_shape} is given, but no features of windows are; choose some with "
            "{features}, or leave it out",
        ),
        *but(
            lambda case: bool(case.kinds & _OF_SAMPLES),
            "features of windows are to be computed, but <but>; leave {features} out",
            SPARSE,
            AUGMENTED,
            IN_BLOCKS,
        ),
    )

    kinds: FeatureSet

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Return the features that the terms name."""
        return cls(kinds=FeatureSet.of(",".join(terms)), **image)

    def stage_for(
        self, settings: FeatureParameters, points: Float32, _: Float32 | None
    ) -> FeatureStage:
        """Return features of windows."""
        shape = settings.window_shape or (points.shape[1], 1)
        return WindowFeatureStage.fitted(self.kinds, shape, points, settings.sample_rate)
