"""Features of windows requested by their names, mean,max,bands:4, or their samples themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.features.window_features.making import fitted_to, samples_as_features
from protonn_edge.features.window_features.windows import KINDS, FeatureSet
from protonn_edge.learn import features
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.model.features import Features
from protonn_edge.model.shapes import Shape

# The lists that are compared, with as many bands as a window has octaves, at most these. The first
# one is the best on average, and is therefore used where nothing can be compared.
_COMPARED = (
    "mean,deviation,min,max,change,crossings,bands:6",
    "mean,deviation,min,max,crossings,bands:4",
    "mean,min,max,bands:6",
    "mean,deviation,min,max,crossings",
    "bands:6",
    "deviation,change,crossings",
    "mean,deviation",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowRequest(features.FeatureRequest):
    """Some features of each channel of a window."""

    kind: ClassVar[str] = IntegerWindowFeatures.kind
    words: ClassVar[tuple[str, ...]] = KINDS
    form: ClassVar[str] = "mean,max,bands:4"
    of_samples: ClassVar[bool] = True
    can_be_clipped: ClassVar[bool] = True

    kinds: FeatureSet

    @classmethod
    def read(cls, terms: Sequence[str], **image: object) -> Self:
        """Read the features that the terms name."""
        return cls(kinds=FeatureSet.of(",".join(terms)), **image)

    @classmethod
    def of_windows(cls, shape: Shape) -> Iterator[str]:
        """Yield a few lists, without bands if a window is too short for them."""
        octaves = int(math.log2(shape[0]))
        for each in _COMPARED:
            names, _, bands = each.partition("bands:")
            most = min(int(bands or 0), octaves)
            if text := f"{names}bands:{most}" if most else names.strip(","):
                yield text

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> Features:
        """Return features of windows."""
        shape = features.window_shape(settings, given.points)
        return fitted_to(given.points, self.kinds, shape, settings.sample_rate)


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleRequest(features.FeatureRequest):
    """All samples of a window."""

    kind: ClassVar[str] = "samples"
    word: ClassVar[str] = "samples"
    form: ClassVar[str] = "samples"
    of_samples: ClassVar[bool] = True

    @classmethod
    def read(cls, terms: Sequence[str], **_: object) -> Self:
        """Read the request from its only term."""
        if features.only_term(terms).strip() != cls.word:
            raise features.unread(terms[0], f"must be {cls.form}")
        return cls()

    @classmethod
    def of_windows(cls, _shape: Shape) -> Iterator[str]:
        """Yield its only form."""
        yield cls.word

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> Features:
        """Return the form of windows, which no stage changes."""
        shape = features.window_shape(settings, given.points)
        return samples_as_features(given.points, shape, settings.sample_rate)
