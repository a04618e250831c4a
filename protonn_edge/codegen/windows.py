"""The stage that makes features of windows: what the templates see of it, and what it takes.

It keeps sums of each channel, never the window. A sample is worked on as it comes; the features are
made of the sums at the window's end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.codegen.first_stage import FirstStage, PushCycles
from protonn_edge.codegen.stage import Stage
from protonn_edge.features import FeaturePipeline, FeatureSet
from protonn_edge.features.pipeline import CENTRE, LEVEL_BITS, LEVEL_SHIFT, SAMPLE_MAXIMUM
from protonn_edge.quantization import IntegerModel, RawScale

# Samples that the firmware collects before it pushes them.
_SAMPLES_AT_ONCE = 32

_SCALE_BYTES = 12  # a struct raw_scale


@dataclass(frozen=True)
class _Costs:
    """What a feature takes, at most: cycles of a sample, of the window's end, bytes of SRAM."""

    sample: int
    end: int
    state: int
    code: int


# Read off the emulator (avr-gcc 5.4 at -O2), and rounded up.
_COSTS = {
    "mean": _Costs(14, 20, 2, 30),
    "deviation": _Costs(30, 1_000, 4, 120),
    "min": _Costs(8, 20, 1, 30),
    "max": _Costs(8, 20, 1, 30),
    "change": _Costs(20, 20, 3, 60),
    "crossings": _Costs(50, 20, 4, 120),
    "bands": _Costs(20, 0, 0, 150),
}
_SAMPLE_CYCLES = 60
_FIRST_SAMPLE_CYCLES = 60
_PAIR_CYCLES = 80
_CALL_CYCLES = 60
_CHANNEL_CYCLES = 40
_ROOT_CYCLES = 900
_INPUT_CYCLES = 250
_CODE_BYTES = 600
_STATE_BYTES = 5


@dataclass(frozen=True)
class WindowStage(FirstStage):
    """Features of windows: `pipeline` is the model's."""

    pipeline: FeaturePipeline

    @property
    def push(self) -> PushCycles:
        """Bounds of pushing a sample, the costliest of a window, and of a call."""
        features = self.pipeline.features
        sample = self._sample_cycles + _PAIR_CYCLES * features.bands + _FIRST_SAMPLE_CYCLES
        return PushCycles(sample, sample, _CALL_CYCLES, _CALL_CYCLES)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stage that takes all samples and makes features of them."""
        costs = [self.push.feature] * self.pipeline.n_features
        calls = 1 if self.holds_all else math.ceil(self.calls(costs))
        cycles = calls * _CALL_CYCLES + self.window_cycles
        flash = self.code_bytes + self.table_bytes
        return (Stage("windows", "loop", flash, cycles, cycles),)

    @property
    def window_cycles(self) -> int:
        """Cycles of all samples, and of the window's end."""
        return self.samples_cycles + self.end_cycles

    @property
    def samples_cycles(self) -> int:
        """Cycles of all samples, at most: a window has them all, whatever they are."""
        pipeline = self.pipeline
        levels = range(1, pipeline.features.bands + 1)
        pairs = sum(pipeline.window >> level for level in levels)
        each = self._sample_cycles * pipeline.window + _PAIR_CYCLES * pairs
        return pipeline.channels * (each + _FIRST_SAMPLE_CYCLES)

    @property
    def end_cycles(self) -> int:
        """Cycles of making features, and inputs of them."""
        features = self.pipeline.features
        each = sum(_COSTS[kind].end for kind in features.kinds)
        each += _ROOT_CYCLES * (("deviation" in features.kinds) + features.bands)
        each += _CHANNEL_CYCLES + _INPUT_CYCLES * len(features.names)
        return self.pipeline.channels * each

    @property
    def _sample_cycles(self) -> int:
        return _SAMPLE_CYCLES + sum(_COSTS[kind].sample for kind in self.pipeline.features.kinds)

    @property
    def chunk_features(self) -> int:
        """Samples that the firmware collects before it pushes them."""
        return _SAMPLES_AT_ONCE

    @property
    def state_bytes(self) -> int:
        """SRAM of the sums, and of the projection's inputs."""
        return _STATE_BYTES + self.channel_bytes * self.pipeline.channels + self.model.n_inputs

    @property
    def channel_bytes(self) -> int:
        """SRAM of a channel's sums."""
        return _places(self.pipeline.features)["end"]

    @property
    def table_bytes(self) -> int:
        """Flash of the scales."""
        return _SCALE_BYTES * self.model.n_inputs

    @property
    def code_bytes(self) -> int:
        """Flash of the code, about."""
        each = sum(_COSTS[kind].code for kind in self.pipeline.features.kinds)
        return super().code_bytes + _CODE_BYTES + each

    def calls_cycles(self, share: NDArray[np.float64]) -> float:  # noqa: ARG002  (all at once)
        """Return the cycles of the projection's calls: its inputs are there all at once."""
        return self.projecting.whole * self.parts(self.model.n_inputs)


@dataclass(frozen=True)
class WindowContext:
    """The stage as `windows.j2` writes it down; ranges are those of any samples."""

    window: int
    channels: int
    kinds: tuple[str, ...]
    bands: int
    hysteresis: int
    centre: int
    level_scale: int
    level_shift: int
    sum_range: tuple[int, int]
    squares_maximum: int
    changes_maximum: int
    level_range: tuple[int, int]
    pair_range: tuple[int, int]
    energy_maximum: int
    definitions: tuple[str, ...]
    offsets: dict[str, int]
    channel_bytes: int
    scales: tuple[RawScale, ...]


def window_context(model: IntegerModel) -> WindowContext | None:
    """Lay out a model's pipeline; None if it has none."""
    pipeline = model.pipeline
    if pipeline is None:
        return None
    features, n = pipeline.features, pipeline.window
    least, most = -CENTRE, SAMPLE_MAXIMUM - CENTRE
    scale = 1 << LEVEL_BITS
    longest = 1 << max(0, features.bands - 1)  # samples in half of a pair of the last level
    quantizer, places = model.feature_inputs, _places(pipeline.features)
    return WindowContext(
        window=n,
        channels=pipeline.channels,
        kinds=features.kinds,
        bands=features.bands,
        hysteresis=features.hysteresis * scale,
        centre=CENTRE,
        level_scale=scale,
        level_shift=LEVEL_SHIFT,
        sum_range=(least * n, most * n),
        squares_maximum=least * least * n,
        changes_maximum=SAMPLE_MAXIMUM * (n - 1),
        level_range=(least * scale, most * scale),
        pair_range=(least * longest, most * longest),
        energy_maximum=max(
            (energy_maximum(n, level) for level in range(1, features.bands + 1)), default=0
        ),
        definitions=_definitions(pipeline),
        offsets=places,
        channel_bytes=places.pop("end"),
        scales=tuple(quantizer.scales[choice] for choice in quantizer.choice.tolist()),
    )


def _places(features: FeatureSet) -> dict[str, int]:
    """Return where each of a channel's variables is, in bytes, and where they end."""
    places, end = {}, 0
    for name, size, kinds in (
        ("sum", 2, {"mean", "deviation"}),
        ("squares", 4, {"deviation"}),
        ("least", 1, {"min"}),
        ("most", 1, {"max"}),
        ("last", 1, {"change"}),
        ("changes", 2, {"change"}),
        ("level", 2, {"crossings"}),
        ("side", 1, {"crossings"}),
        ("crossings", 1, {"crossings"}),
        ("first", 2 * features.bands, {"bands"}),
        ("squared", 4 * features.bands, {"bands"}),
    ):
        if kinds & set(features.kinds):
            places[name] = end
            end += size
    return places | {"end": end}


def energy_maximum(window: int, level: int) -> int:
    """Return the largest sum of squared differences that a level of the bands can have."""
    return (window >> level) * (SAMPLE_MAXIMUM << (level - 1)) ** 2


def _definitions(pipeline: FeaturePipeline) -> tuple[str, ...]:
    """Return what the features are, and their ranges, as the generated code says it."""
    n, features, level = pipeline.window, pipeline.features, 1 << LEVEL_BITS
    least, most = -CENTRE, SAMPLE_MAXIMUM - CENTRE
    spread = math.isqrt(n * n * SAMPLE_MAXIMUM * SAMPLE_MAXIMUM // 4)
    lines = {
        "mean": (f"mean       sum of x: {least * n}..{most * n}",),
        "deviation": (
            f"deviation  root(N * sum of x^2 - (sum of x)^2): 0..{spread}; both terms are at most",
            f"           {(CENTRE * n) ** 2}",
        ),
        "min": (f"min        the least x: {least}..{most}",),
        "max": (f"max        the largest x: {least}..{most}",),
        "change": (
            f"change     (sum of |x[t] - x[t - 1]|) >> 1: 0..{SAMPLE_MAXIMUM * (n - 1) >> 1}",
        ),
        "crossings": (
            "crossings  how often x gets from below its level to above it, or back: beyond it by",
            f"           more than {features.hysteresis}; the level, times {level}, is {level} x[0] at",
            f"           first and follows {level} x by 1/{1 << LEVEL_SHIFT} of the difference: 0..{n - 1}",
        ),
        "bands": (
            "band k     root(sum of d^2): d are the differences within pairs of sums of 2^(k-1)",
            "           samples: "
            + ", ".join(
                f"0..{math.isqrt(energy_maximum(n, level))}"
                for level in range(1, features.bands + 1)
            ),
        ),
    }
    return tuple(line for kind in features.kinds for line in lines[kind])
