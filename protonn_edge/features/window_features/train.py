"""Features of windows requested by their names: mean,max,bands:4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.features.window_features.making import fitted_to
from protonn_edge.features.window_features.windows import KINDS, FeatureSet
from protonn_edge.learn import features
from protonn_edge.learn import refusal as rows
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.model.features import Features


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowRequest(features.FeatureRequest):
    """Some features of each channel of a window."""

    kind: ClassVar[str] = IntegerWindowFeatures.kind
    words: ClassVar[tuple[str, ...]] = KINDS
    form: ClassVar[str] = "mean,max,bands:4"
    of_samples: ClassVar[bool] = True
    can_be_clipped: ClassVar[bool] = True
    refusals: ClassVar[tuple[rows.Refusal, ...]] = (
        rows.Refusal(
            lambda case: (
                not features.is_of_windows(case)
                and (
                    "{window_shape}" * (case.settings.window_shape is not None)
                    or case.first_given("sample_rate")
                )
            ),
            "{it} is given, but no features of windows are requested; name some, such as "
            "{features} mean,deviation,min,max, or leave {it} out",
        ),
    )

    kinds: FeatureSet

    @classmethod
    def read(cls, terms: Sequence[str], **image: object) -> Self:
        """Read the features that the terms name."""
        return cls(kinds=FeatureSet.of(",".join(terms)), **image)

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> Features:
        """Return features of windows."""
        shape = settings.window_shape or (given.points.shape[1], 1)
        return fitted_to(given.points, self.kinds, shape, settings.sample_rate)
