"""The kernel of window features: the context of its templates, and its cost.

It keeps sums of each channel instead of the window. Samples are processed as they arrive, and the
features are computed from the sums at the end of the window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.input_quantizer.raw_inputs import RAW_SHIFT, RawScale
from protonn_edge.chain.input_quantizer.saturation import BYTE_MAXIMUM
from protonn_edge.features.window_features.declaration import FeatureSet
from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.features.window_features.windows import CENTRE, LEVEL_BITS, LEVEL_SHIFT, Windows
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step

# Samples that the firmware collects before it pushes them.
_SAMPLES_AT_ONCE = 32

_SCALE_BYTES = 12  # a struct raw_scale


# Cycles of a sample, as in `window_features/avr.j2`, for each of a channel's variables: at most.
_SUM_CYCLES = 13
_SQUARES_CYCLES = 18
_EXTREME_CYCLES = 6
_CHANGE_CYCLES = 17
_CROSSING_CYCLES = 47
_CROSSING_LEAST = 34
_FOLLOWING_CYCLES = 38  # the same on signals; for the mean
_BANDS_CYCLES = 4
_WAITING_CYCLES = 8  # the first of a pair
_FIRST_PAIR_CYCLES = 34
_PAIR_CYCLES = 52

# Compiled code around them, measured on the emulator (avr-gcc 5.4 at -O2): at most, and on
# average. Of a sample, a channel's first one (and there for a band), a call; at the window's end,
# of a root, and of an input.
_SAMPLE_BY_COMPILER, _MEAN_SAMPLE_BY_COMPILER = 43, 31
_BEGIN_BY_COMPILER, _BEGIN_BAND_BY_COMPILER = 60, 20
_CALL_BY_COMPILER, _MEAN_CALL_BY_COMPILER = 80, 74
_END_BY_COMPILER = 60
_ROOT_BY_COMPILER, _MEAN_ROOT_BY_COMPILER = 716, 670
_INPUT_BY_COMPILER, _MEAN_INPUT_BY_COMPILER = 222, 212

_CALLS_OF_A_ROOT = 17
_CALLS_OF_AN_INPUT = 3

# Flash, about, read off linked programs.
_STREAMING_CODE_BYTES = 120
_CODE_BYTES = 300
_KIND_CODE_BYTES = {
    "mean": 70,
    "deviation": 230,
    "min": 70,
    "max": 60,
    "change": 80,
    "crossings": 170,
    "bands": 110,
}
_BAND_CODE_BYTES = 100

_STATE_BYTES = 3

# To set the counters of samples and of channels.
_BEGIN_WINDOW_CYCLES = 14


# Time of the compiler's loops relative to assembly, on a chip without a multiplier; two sets
# of features took a quarter and a third less.
_PORTABLE = 4.0


@dataclass(frozen=True, eq=False)
class WindowKernel(Kernel):
    """Keeps sums of each channel, from which features are computed at the end of the window."""

    template: ClassVar[str] = "window_features/window_features.j2"
    chunk: ClassVar[int] = _SAMPLES_AT_ONCE

    stage: IntegerWindowFeatures
    core: Core
    name: str = "sums"

    @property
    def window_features(self) -> Windows:
        """The features."""
        return self.stage.window

    @property
    def feedings(self) -> tuple[bool, ...]:
        """Sums are kept, no samples."""
        return (False,) if self.core.multiplies else (True,)

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,
        activity: Activity | None,  # noqa: ARG002  (the work is the same whatever the samples are)
    ) -> Cost:
        """Return its cost."""
        assert feed is not None
        assert following is not None
        push = self._push(following)
        _, channel = _places(self.window_features.features)
        tables = _SCALE_BYTES * self.stage.n_outputs
        features = self.window_features.features
        code = _CODE_BYTES + sum(_KIND_CODE_BYTES[kind] for kind in features.kinds)
        code += _BAND_CODE_BYTES * features.bands + _STREAMING_CODE_BYTES * (not feed.whole)
        step = Step(
            self.kind,
            self.name,
            code + tables,
            self._cycles(feed, push, at_most=False) + following.whole,
            self._cycles(feed, push, at_most=True) + following.whole,
            self.least_samples_cycles(),
        )
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=tables,
            code=code,
            state=_STATE_BYTES + channel * self.window_features.channels + self.stage.n_outputs,
            push=push,
            begin=_BEGIN_WINDOW_CYCLES,
        )

    def _push(self, following: Push) -> Push:
        """Return bounds of pushing a sample, the costliest of a window, and of a call."""
        bands = self.window_features.features.bands
        begin = _BEGIN_BY_COMPILER + _BEGIN_BAND_BY_COMPILER * bands
        pairs = _FIRST_PAIR_CYCLES + _PAIR_CYCLES * (bands - 1) if bands else 0
        sample = self._accumulating(at_most=True) + _SAMPLE_BY_COMPILER
        sample += max(begin + _WAITING_CYCLES, pairs)
        call = _CALL_BY_COMPILER + 2 * self.core.call_cycles
        return Push(sample, sample, call, call, following.more)

    def _cycles(self, feed: Feed, push: Push, *, at_most: bool) -> int:
        """Return the cycles of a window, which do not depend on the samples."""
        costs = [push.value] * self.window_features.n_features
        calls = 1 if feed.whole else feed.calls(push, costs)
        call = _CALL_BY_COMPILER if at_most else _MEAN_CALL_BY_COMPILER
        call += 2 * self.core.call_cycles
        return calls * call + self.samples_cycles(at_most) + self.end_cycles(at_most)

    def samples_cycles(self, at_most: bool) -> int:
        """Return the cycles of all samples, without those of the calls."""
        window, bands = self.window_features.window, self.window_features.features.bands
        around = _SAMPLE_BY_COMPILER if at_most else _MEAN_SAMPLE_BY_COMPILER
        cycles = window * (self._accumulating(at_most) + around)
        cycles += _BEGIN_BY_COMPILER + _BEGIN_BAND_BY_COMPILER * bands
        if bands:
            later = sum(window >> level for level in range(2, bands + 1))
            cycles += (window >> 1) * _FIRST_PAIR_CYCLES + later * _PAIR_CYCLES
            cycles += (window - (window >> bands)) * _WAITING_CYCLES
        return self.window_features.channels * cycles

    def least_samples_cycles(self) -> int:
        """Return the least cycles of all samples, without what the compiler makes."""
        kinds, window = self.window_features.features.kinds, self.window_features.window
        least = {
            "min": _EXTREME_CYCLES - 1,
            "max": _EXTREME_CYCLES - 1,
            "deviation": _SQUARES_CYCLES,
            "change": _CHANGE_CYCLES,
            "crossings": _CROSSING_LEAST,
            "bands": _BANDS_CYCLES,
        }
        sample = _SUM_CYCLES if "mean" in kinds or "deviation" in kinds else 0
        sample += sum(least.get(kind, 0) for kind in kinds)
        bands = self.window_features.features.bands
        pairs = sum(
            (window >> level) * ((_PAIR_CYCLES if level > 1 else _FIRST_PAIR_CYCLES) - 2)
            for level in range(1, bands + 1)
        )
        return self.window_features.channels * (window * sample + pairs)

    def end_cycles(self, at_most: bool) -> int:
        """Return the cycles of computing features, and of quantizing them."""
        features = self.window_features.features
        root = _ROOT_BY_COMPILER if at_most else _MEAN_ROOT_BY_COMPILER
        each = _INPUT_BY_COMPILER if at_most else _MEAN_INPUT_BY_COMPILER
        root += _CALLS_OF_A_ROOT * self.core.call_cycles
        each += _CALLS_OF_AN_INPUT * self.core.call_cycles
        channel = root * (("deviation" in features.kinds) + features.bands)
        channel += each * len(features.names)
        return _END_BY_COMPILER + self.window_features.channels * channel

    def _accumulating(self, at_most: bool) -> int:
        """Return the cycles of a sample, without pairs and what the compiler makes."""
        kinds = self.window_features.features.kinds
        costs = {
            "min": _EXTREME_CYCLES,
            "max": _EXTREME_CYCLES,
            "deviation": _SQUARES_CYCLES,
            "change": _CHANGE_CYCLES,
            "crossings": _CROSSING_CYCLES if at_most else _FOLLOWING_CYCLES,
            "bands": _BANDS_CYCLES,
        }
        summed = _SUM_CYCLES if "mean" in kinds or "deviation" in kinds else 0
        return summed + sum(costs.get(kind, 0) for kind in kinds)

    def context(self) -> WindowContext:
        """Return the template context, with data in the order of the generated program."""
        return window_context(self.stage)


@dataclass(frozen=True)
class WindowContext:
    """The context of the template; ranges are for any samples."""

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
    n_outputs: int
    maximum: int
    scales: tuple[RawScale, ...]
    raw_shift: int


def window_context(stage: IntegerWindowFeatures) -> WindowContext:
    """Lay out the stage."""
    window_features, quantizer = stage.window, stage.quantizer
    features, n = window_features.features, window_features.window
    least, most = -CENTRE, BYTE_MAXIMUM - CENTRE
    scale = 1 << LEVEL_BITS
    longest = 1 << max(0, features.bands - 1)  # samples in half of a pair of the last level
    places, channel_bytes = _places(features)
    return WindowContext(
        window=n,
        channels=window_features.channels,
        kinds=features.kinds,
        bands=features.bands,
        hysteresis=features.hysteresis * scale,
        centre=CENTRE,
        level_scale=scale,
        level_shift=LEVEL_SHIFT,
        sum_range=(least * n, most * n),
        squares_maximum=least * least * n,
        changes_maximum=BYTE_MAXIMUM * (n - 1),
        level_range=(least * scale, most * scale),
        pair_range=(least * longest, most * longest),
        energy_maximum=max(
            (energy_maximum(n, level) for level in range(1, features.bands + 1)), default=0
        ),
        definitions=_definitions(window_features),
        offsets=places,
        channel_bytes=channel_bytes,
        n_outputs=stage.n_outputs,
        maximum=quantizer.maximum,
        raw_shift=RAW_SHIFT,
        scales=tuple(quantizer.scales[choice] for choice in quantizer.choice.tolist()),
    )


def _places(features: FeatureSet) -> tuple[dict[str, int], int]:
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
    return places, end


def energy_maximum(window: int, level: int) -> int:
    """Return the largest sum of squared differences that a level of the bands can have."""
    return (window >> level) * (BYTE_MAXIMUM << (level - 1)) ** 2


def _definitions(window_features: Windows) -> tuple[str, ...]:
    """Return what the features are, and their ranges, as the generated code says it."""
    n, features, level = window_features.window, window_features.features, 1 << LEVEL_BITS
    least, most = -CENTRE, BYTE_MAXIMUM - CENTRE
    spread = math.isqrt(n * n * BYTE_MAXIMUM * BYTE_MAXIMUM // 4)
    lines = {
        "mean": (f"mean       sum of x: {least * n}..{most * n}",),
        "deviation": (
            f"deviation  root(N * sum of x^2 - (sum of x)^2): 0..{spread}; both terms are at most",
            f"           {(CENTRE * n) ** 2}",
        ),
        "min": (f"min        the least x: {least}..{most}",),
        "max": (f"max        the largest x: {least}..{most}",),
        "change": (
            f"change     (sum of |x[t] - x[t - 1]|) >> 1: 0..{BYTE_MAXIMUM * (n - 1) >> 1}",
        ),
        "crossings": (
            "crossings  how often x gets from below its level to above it, or back: beyond it by",
            f"           more than {features.hysteresis}; {level} times the level begins as",
            f"           {level} x[0] and follows {level} x by a {1 << LEVEL_SHIFT}th of the",
            f"           difference, rounded down: 0..{n - 1}",
        ),
        "bands": (
            "band k     root(sum of d^2): d are the differences within pairs of sums of 2^(k-1)",
            "           samples: "
            + ", ".join(
                f"0..{math.isqrt(energy_maximum(n, k))}" for k in range(1, features.bands + 1)
            ),
        ),
    }
    return tuple(line for kind in features.kinds for line in lines[kind])


def kernels(stage: IntegerWindowFeatures, core: Core) -> tuple[Kernel, ...]:
    """Return its only kernel."""
    return (WindowKernel(stage, core),)
