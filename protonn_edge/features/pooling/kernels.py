"""The kernel of pooling, which adds rows to the current windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.features.average_pooling.loops import average_of
from protonn_edge.features.images.image_rows import ImageKernel
from protonn_edge.features.pooling.integers import IntegerPooling

_LARGER = """
    ld   r19, Z
    cp   r19, r18
    brcc keep
    mov  r19, r18
keep:
    st   Z+, r19
"""
_ADDED = """
    ld   r19, Z
    ldd  r22, Z+1
    add  r19, r18
    adc  r22, r1
    st   Z+, r19
    st   Z+, r22
"""


@dataclass(frozen=True, eq=False)
class PoolingKernel(ImageKernel):
    """Keeps the largest values, or the sums, of the current windows."""

    stage: IntegerPooling
    name: str = "rows"

    @property
    def averages(self) -> bool:
        """Whether values are averages instead of maxima."""
        return self.stage.how == "average"

    @cached_property
    def loop(self) -> Listing:
        """The instructions that add a row to its windows, by maximum or by sum.

        X points into the row, Z to the windows, r21 counts windows; sums have 16 bits.
        """
        channels = self.stage.shape[2]
        back = channels * (2 if self.averages else 1)
        return Listing(
            f"""
            window:
                ldi  r23, {self.stage.window[1]}
            pixel:
                ldi  r20, {channels}
            value:
                ld   r18, X+
                {_ADDED if self.averages else _LARGER}
                dec  r20
                brne value
                dec  r23
                breq next
                subi r30, lo8({back})
                sbci r31, hi8({back})
                rjmp pixel
            next:
                dec  r21
                brne window
            """
        )

    @cached_property
    def average_loop(self) -> Listing:
        """The loop that computes averages from sums and clears the sums.

        Z points to the sums, X to the averages, `left` counts them, r17:r16 is the multiplier, and
        r23 is 0.
        """
        return Listing(
            f"""
            average:
                ld   r20, Z
                ldd  r21, Z+1
                {average_of("r16", "r17", "128   ; a half")}
                st   X+, r19
                st   Z+, r23
                st   Z+, r23
                sbiw %[left], 1
                brne average
                clr  r1
            """
        )

    @property
    def facts(self) -> Facts:
        """How often the labels of the loop over a row are passed."""
        rows, _, channels = self.stage.shape
        windows = rows * self.stage.output_shape[1]
        pixels = windows * self.stage.window[1]
        counts = {"window": windows, "pixel": pixels, "value": pixels * channels}
        return {label: Passed(count, count) for label, count in counts.items()}

    @property
    def average_facts(self) -> Facts:
        """How often the loop that makes averages is passed."""
        averages = self.stage.output_shape[0] * self.stage.output_values
        return {"average": Passed(averages, averages)}

    def cost(self, feed: Feed | None, /) -> Cost:
        """Return its cost; all values take the same cycles."""
        rows, stage = self.rows, self.stage
        count, outputs = stage.shape[0], stage.output_shape[0]
        begins = 1 if self.averages else -(-count // stage.window[0])
        cycles: float = count * self._row + outputs * self._averaging
        cycles += compiled.TURN_CYCLES * begins * stage.output_values
        cycles += compiled.calls(count + outputs, self.core)
        return self._in_one_step(
            cycles + rows.cycles(feed),
            0,
            state=1 + 2 * stage.output_values * self.averages + rows.state(feed),
        )

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loops over rows and, if they are averages, over sums."""
        return (self.loop, self.average_loop) if self.averages else (self.loop,)

    @property
    def _row(self) -> int:
        """The cycles of a row; if some values stay, it takes only slightly fewer."""
        _, windows, channels = self.stage.output_shape
        return windows * max(self._window(channels, kept) for kept in (0, 1))

    def _window(self, channels: int, kept: int) -> int:
        """Return the cycles of a window's row if all values are kept, or none."""

        def way(start: str, end: str, **taken: int) -> int:
            return self.loop.path(start, (end,), {"keep": kept, **taken})

        value, pixel = way("value", "value", value=1), way("pixel", "value")
        others, last = way("value", "pixel"), way("value", "window", next=1, window=1)
        values = self.stage.window[1] * (pixel + (channels - 1) * value)
        return way("window", "pixel") + values + (self.stage.window[1] - 1) * others + last

    @property
    def _averaging(self) -> int:
        """Cycles of the loop that makes a row of averages."""
        if not self.averages:
            return 0
        value = self.average_loop.path("average", ("average",), {"average": 1})
        return self.stage.output_values * value


kernels = PoolingKernel.of
