"""The kernel of pooling, which adds rows to the current windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.chain.activity import Activity
from protonn_edge.features.average_pooling.loops import average_of
from protonn_edge.features.images.image_rows import ImageRows
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.kernels.listing import Facts, Listing, Passed

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
_PIXEL_CYCLES = 6  # besides its values


# Cycles of the compiler's code: per input row; at the beginning of a row of
# windows, and per value or sum cleared there; and at its end.
_TAKEN_CYCLES, _BEGUN_CYCLES, _CLEARED_CYCLES, _OUTPUT_CYCLES = 48, 12, 8, 24
_AVERAGING_CYCLES = 30
_CODE_BYTES = 240


@dataclass(frozen=True, eq=False)
class PoolingKernel(Kernel):
    """Keeps the largest values, or the sums, of the current windows."""

    portable = 3.0

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

    @cached_property
    def rows(self) -> ImageRows:
        """The rows of the image."""
        return ImageRows(self.stage)

    def cost(self, feed: Feed | None, following: float, _: Activity) -> Cost:
        """Return its cost; all values take the same cycles."""
        rows, stage = self.rows, self.stage
        count, outputs = stage.shape[0], stage.output_shape[0]
        begins = 1 if self.averages else -(-count // stage.window[0])
        cycles = count * (self._row + _TAKEN_CYCLES) + begins * self._begun
        output = _OUTPUT_CYCLES + self._averaging + _AVERAGING_CYCLES * self.averages
        cycles += outputs * output
        code = _CODE_BYTES + self.loop.code_bytes + self.average_loop.code_bytes * self.averages
        return self._in_one_step(
            cycles + rows.cycles(feed, following),
            (0, code),
            state=1 + 2 * stage.output_values * self.averages + rows.state(feed),
            buffer=rows.buffer(feed),
            called=rows.called,
        )

    @property
    def _row(self) -> int:
        """The cycles of a row; if some values stay, it takes only slightly fewer."""
        _, windows, channels = self.stage.output_shape
        value = max(
            self.loop.path("value", ("value",), {"value": 1, "keep": kept}) for kept in (0, 1)
        )
        return windows * (1 + self.stage.window[1] * (_PIXEL_CYCLES + channels * value))

    @property
    def _begun(self) -> int:
        """Cycles of clearing values for each row of windows, or sums once."""
        return _BEGUN_CYCLES + _CLEARED_CYCLES * self.stage.output_values

    @property
    def _averaging(self) -> int:
        """Cycles of the loop that makes a row of averages."""
        if not self.averages:
            return 0
        value = self.average_loop.path("average", ("average",), {"average": 1})
        return self.stage.output_values * value


kernels = PoolingKernel.of
