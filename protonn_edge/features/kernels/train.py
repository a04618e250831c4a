"""Counted kernels requested as features: kernels:96."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from protonn_edge.features.kernels.integers import (
    BIASES,
    LEAST_SAMPLES,
    MOST_FEATURES,
    IntegerKernels,
)
from protonn_edge.features.kernels.making import chosen_kernels, drawn_kernels, kernels_of
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.learn import features
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.learn.points import as_columns, sample_with_all_classes
from protonn_edge.model.features import Features
from protonn_edge.model.shapes import Shape
from protonn_edge.system.checks import check_range

_USUAL = 96  # features
_DRAWN = 500  # kernels, from which some are chosen
_MOST_WINDOWS = 500  # by which they are chosen


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelRequest(features.FeatureRequest):
    """The number of features: one for each of the three biases of a kernel."""

    kind: ClassVar[str] = IntegerKernels.kind
    word: ClassVar[str] = "kernels"
    form: ClassVar[str] = "kernels:96"
    of_samples: ClassVar[bool] = True
    learns_from_classes: ClassVar[bool] = True

    number: int

    @classmethod
    def read(cls, terms: Sequence[str], **_: object) -> Self:
        """Read the number from the only term."""
        term = features.only_term(terms)
        match = re.fullmatch(r"\s*\w+\s*:\s*(\d{1,3})\s*", term)
        number = int(match[1]) if match else 0
        if not BIASES <= number <= MOST_FEATURES or number % BIASES:
            what = f"must look like {cls.form}: a multiple of {BIASES}, at most {MOST_FEATURES}"
            raise features.unread(term, what)
        return cls(number=number)

    @classmethod
    def of_windows(cls, shape: Shape) -> Iterator[str]:
        """Yield the usual number, if windows are long enough."""
        if shape[0] >= LEAST_SAMPLES:
            yield f"{cls.word}:{_USUAL}"

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> Features:
        """Return kernels chosen by their targets; without these, the first that are drawn."""
        shape = features.window_shape(settings, given.points)
        check_range("samples of a window", shape[0], LEAST_SAMPLES, features.LONGEST_WINDOW)
        scale = ChannelScale.of_windows(given.points, shape)
        x, generator = scale.to_bytes(given.points), np.random.default_rng(given.seed)
        n = self.number // BIASES
        bank = drawn_kernels(x, shape, n if given.y is None else _DRAWN, generator)
        if given.y is not None:
            rows = sample_with_all_classes(given.y, _MOST_WINDOWS, generator)
            targets = as_columns(given.y[rows]).astype(np.float64)
            chosen = chosen_kernels(bank.counts(x[rows], shape), targets, n)
            bank = bank.part(chosen)
        return kernels_of(x, shape, bank, scale, settings.sample_rate)
