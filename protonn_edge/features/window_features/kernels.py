"""The kernel of window features.

It stores sums of each channel instead of the window: samples are processed as they arrive, and the
features are computed from the sums at the end of the window.

Assembly processes a sample; portable C in the template gives the same integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed, repeated
from protonn_edge.features.window_features import windows as reference
from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.raw_inputs import RawScale


def _sum(at: int) -> str:
    return f"""
        clr  %A[pair] ; the sum
        sbrc %[x], 7
        com  %A[pair]
        ldd  %A[low], Z+{at}
        ldd  %B[low], Z+{at + 1}
        add  %A[low], %[x]
        adc  %B[low], %A[pair]
        std  Z+{at}, %A[low]
        std  Z+{at + 1}, %B[low]
    """


def _square(at: int) -> str:
    """Return code that adds a 16-bit product to a 24-bit sum."""
    return f"""
        ldd  %A[low], Z+{at}
        add  %A[low], r0
        std  Z+{at}, %A[low]
        ldd  %A[low], Z+{at + 1}
        adc  %A[low], r1
        std  Z+{at + 1}, %A[low]
        clr  r1
        ldd  %A[low], Z+{at + 2}
        adc  %A[low], r1
        std  Z+{at + 2}, %A[low]
    """


def _extreme(name: str, compared: str, at: int) -> str:
    return f"""
        ldd  %A[low], Z+{at}
        cp   {compared}
        brge {name}
        std  Z+{at}, %[x]
    {name}:
    """


def _change(last: int, changes: int) -> str:
    return f"""
        ldd  %A[low], Z+{last} ; the changes
        std  Z+{last}, %[x]
        sub  %A[low], %[x]
        brge changed
        neg  %A[low]
    changed: ldd %B[low], Z+{changes}
        add  %B[low], %A[low]
        std  Z+{changes}, %B[low]
        ldd  %B[low], Z+{changes + 1}
        adc  %B[low], __zero_reg__
        std  Z+{changes + 1}, %B[low]
    """


def _crossing(level: int, side: int, crossings: int) -> str:
    return f"""
        mov  %B[pair], %[x] ; beyond the level
        clr  %A[pair]
        asr  %B[pair]
        ror  %A[pair]
        ldd  %A[low], Z+{level}
        ldd  %B[low], Z+{level + 1}
        sub  %A[pair], %A[low]
        sbc  %B[pair], %B[low]
        movw %A[sum], %A[pair]
        {repeated(range(reference.LEVEL_SHIFT), "asr %B[sum]", "ror %A[sum]")}
        add  %A[low], %A[sum]
        adc  %B[low], %B[sum]
        std  Z+{level}, %A[low]
        std  Z+{level + 1}, %B[low]
        ldd  %A[low], Z+{side} ; which side of it
        ldi  %B[low], hi8(%[above])
        cpi  %A[pair], lo8(%[above])
        cpc  %B[pair], %B[low]
        brge above
        ldi  %B[low], hi8(%[below])
        cpi  %A[pair], lo8(%[below])
        cpc  %B[pair], %B[low]
        brge near
        ldi  %B[low], 0xff
        rjmp beyond
    above: ldi %B[low], 1
    beyond: std Z+{side}, %B[low]
        add  %A[low], %B[low]
        brne same
        ldd  %A[low], Z+{crossings}
        inc  %A[low]
        std  Z+{crossings}, %A[low]
    near:
    same:
    """


def _bands(bands: int, first: int, squared: int) -> str:
    levels = "".join(_band(level, first + 2 * level, squared + 4 * level) for level in range(bands))
    return f"""
        mov  %A[sum], %[x] ; the pairs
        clr  %B[sum]
        sbrc %[x], 7
        com  %B[sum]
        {levels}
    """


def _band(level: int, first: int, squared: int) -> str:
    """Return code that stores a pair's first sum; at the second, it adds the squared difference."""
    return f"""
    level{level}: lsr %[number]
        brcs pair{level}
        std  Z+{first}, %A[sum]
        std  Z+{first + 1}, %B[sum]
        rjmp end
    pair{level}: ldd %A[low], Z+{first}
        ldd  %B[low], Z+{first + 1}
        movw %A[pair], %A[sum]
        add  %A[sum], %A[low]
        adc  %B[sum], %B[low]
        sub  %A[pair], %A[low]
        sbc  %B[pair], %B[low]
        brpl ordered{level}
        com  %B[pair]
        neg  %A[pair]
        sbci %B[pair], 0xff
    ordered{level}: mul %A[pair], %A[pair]
        {_wide_square(squared) if level else _square(squared)}
    """


def _wide_square(at: int) -> str:
    added = "".join(
        f"""
        ldd  %A[pair], Z+{at + byte}
        {"adc" if byte else "add"} %A[pair], {operand}
        std  Z+{at + byte}, %A[pair]
        """
        for byte, operand in enumerate(("%A[low]", "%B[low]", "%A[high]", "%B[high]"))
    )
    doubled = ("add %B[low], r0", "adc %A[high], r1", "adc %B[high], %A[pair]")
    return f"""
        movw %A[low], r0
        mul  %B[pair], %B[pair]
        movw %A[high], r0
        mul  %A[pair], %B[pair]
        clr  %A[pair]
        {repeated(range(2), *doubled)}
        clr  r1
        {added}
    """


# Samples that the firmware collects before it pushes them.
_SAMPLES_AT_ONCE = 32
# a struct raw_scale: first, span, multiplier, shift, mirrored, offset
SCALE_BYTES = compiled.bytes_of("uint16_t", "uint16_t", "uint16_t", "uint8_t", "uint8_t", "int32_t")


# Branches that most samples of signals take: few are near the level, or cross it.
_USUAL = ("above", "same", "least", "most", "changed", "%[x], 7")

_CYCLES_OF_A_BYTE = 0.42  # of a sample's instructions, some of which are for few samples
_STATE_BYTES = compiled.bytes_of("uint16_t", "uint8_t")


@dataclass(frozen=True, eq=False)
class WindowKernel(Kernel):
    """Keeps sums of each channel, from which features are computed at the end of the window."""

    chunk: ClassVar[int] = _SAMPLES_AT_ONCE
    holds_inputs: ClassVar[bool] = False  # no samples are kept
    centre: ClassVar[int] = reference.CENTRE
    level_scale: ClassVar[int] = 1 << reference.LEVEL_BITS
    level_shift: ClassVar[int] = reference.LEVEL_SHIFT

    stage: IntegerWindowFeatures
    name: str = "sums"

    @property
    def features(self) -> reference.FeatureSet:
        """The features of a channel."""
        return self.stage.window.features

    @cached_property
    def sample(self) -> Listing:
        """The instructions for a sample; Z points to the channel's variables.

        They begin at the label ``sample``, those of the bands at ``level0``, ``level1`` and so on.
        """
        at, kinds = _places(self.features)[0], set(self.features.kinds)
        parts = [
            _sum(at["sum"]) if kinds & {"mean", "deviation"} else "",
            f"muls %[x], %[x] ; the squares, below 2^23\n{_square(at['squares'])}"
            if "deviation" in kinds
            else "",
            _extreme("least", "%[x], %A[low]", at["least"]) if "min" in kinds else "",
            _extreme("most", "%A[low], %[x]", at["most"]) if "max" in kinds else "",
            _change(at["last"], at["changes"]) if "change" in kinds else "",
            _crossing(at["level"], at["side"], at["crossings"]) if "crossings" in kinds else "",
            _bands(self.features.bands, at["first"], at["squared"]) if self.features.bands else "",
        ]
        return Listing("\n".join(["sample:", *parts, "end:"]))

    @property
    def facts(self) -> Facts:
        """How often pairs of samples end."""
        window, channels = self.stage.window.window, self.stage.window.channels
        pairs = [(window >> level + 1) * channels for level in range(self.features.bands)]
        return {f"pair{level}": Passed(count, count) for level, count in enumerate(pairs)}

    @property
    def channel_bytes(self) -> int:
        """SRAM of a channel's variables."""
        return _places(self.features)[1]

    @property
    def energy_maximum(self) -> int:
        """The largest sum of squared differences of any band."""
        levels = range(1, self.features.bands + 1)
        return max(energy_maximum(self.stage.window.window, level) for level in levels)

    @property
    def definitions(self) -> tuple[str, ...]:
        """The definitions of the features, with their ranges, for the generated code."""
        return _definitions(self.stage.window)

    @property
    def scales(self) -> tuple[RawScale, ...]:
        """The scales from features to bytes."""
        quantizer = self.stage.quantizer
        assert quantizer is not None
        return tuple(quantizer.scales[choice] for choice in quantizer.choice.tolist())

    def cost(self, feed: Feed | None, /) -> Cost:
        """Return its cost; the work is the same for all samples."""
        assert feed is not None
        return self._with_code(
            self._cycles(feed),
            SCALE_BYTES * self.stage.n_outputs,
            state=_STATE_BYTES
            + self.channel_bytes * self.stage.window.channels
            + self.stage.n_outputs,
        )

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The instructions for a sample."""
        return (self.sample,)

    def _cycles(self, feed: Feed) -> float:
        """Return about the cycles of a window.

        At its end, roots are taken, and features scaled, by six functions each.
        """
        windows, features, channels = self.stage.window, self.features, self.stage.window.channels
        roots = channels * (("deviation" in features.kinds) + features.bands)
        turns = windows.window * (3 * channels + 2) + 2 * features.bands * channels
        functions = 2 * (feed.calls + channels + 1) + 6 * self.stage.n_outputs
        around = compiled.TURN_CYCLES * turns + compiled.calls(functions, self.core)
        samples = _CYCLES_OF_A_BYTE * self.sample.code_bytes * windows.window * channels
        return around + compiled.DIVISION_CYCLES * roots + samples


def _places(features: reference.FeatureSet) -> tuple[dict[str, int], int]:
    """Return the offsets of a channel's variables in bytes, and their total size."""
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
    """Return the largest possible sum of squared differences of a band."""
    return (window >> level) * (BYTE_MAXIMUM << (level - 1)) ** 2


def _definitions(of: reference.Windows) -> tuple[str, ...]:
    """Return the definitions of the features, with their ranges, for the generated code."""
    n, features, level = of.window, of.features, 1 << reference.LEVEL_BITS
    apart = features.hysteresis
    share = 1 << reference.LEVEL_SHIFT
    least, most = -reference.CENTRE, BYTE_MAXIMUM - reference.CENTRE
    spread = math.isqrt(n * n * BYTE_MAXIMUM * BYTE_MAXIMUM // 4)
    lines = {
        "mean": (f"mean       sum of x: {least * n}..{most * n}",),
        "deviation": (
            f"deviation  root(N * sum of x^2 - (sum of x)^2): 0..{spread}; both terms are at most",
            f"           {(reference.CENTRE * n) ** 2}",
        ),
        "min": (f"min        the least x: {least}..{most}",),
        "max": (f"max        the largest x: {least}..{most}",),
        "change": (
            f"change     (sum of |x[t] - x[t - 1]|) >> 1: 0..{BYTE_MAXIMUM * (n - 1) >> 1}",
        ),
        "crossings": (
            f"crossings  how often x goes from more than {apart} below its level to more than",
            f"           {apart} above it, or back: 0..{n - 1}; the level begins as x[0]",
            f"           and moves by a {share}th of its difference from each x, in steps of",
            f"           1/{level}, rounded down",
        ),
        "bands": (
            "band k     root(sum of d^2) over the differences d between two successive sums of",
            "           2^(k-1) samples each: "
            + ", ".join(
                f"0..{math.isqrt(energy_maximum(n, k))}" for k in range(1, features.bands + 1)
            ),
        ),
    }
    return tuple(line for kind in features.kinds for line in lines[kind])


kernels = WindowKernel.of
