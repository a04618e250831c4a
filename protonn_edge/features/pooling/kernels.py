"""The kernel of pooling: rows that are taken into windows under way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.features.images.image_rows import ImageRows
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.listing import Listing

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
_PIXEL_CYCLES = 6  # beside its values


@dataclass(frozen=True)
class RowLoop:
    """What takes a row into its windows: the larger values, or sums of 16 bits."""

    # windows in a row, their width in pixels, and the channels of a pixel
    windows: int
    width: int
    channels: int
    sums: bool  # whether values are summed

    @cached_property
    def listing(self) -> Listing:
        """The instructions: X goes through the row, Z through what is there, r21 counts windows."""
        back = self.channels * (2 if self.sums else 1)
        return Listing(
            f"""
            window:
                ldi  r23, {self.width}
            pixel:
                ldi  r20, {self.channels}
            value:
                ld   r18, X+
                {_ADDED if self.sums else _LARGER}
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

    @property
    def cycles(self) -> int:
        """Cycles of a row, the same for all values, and a few more."""
        value = self.listing.worst("value", ("value",), {"value": 1})
        return self.windows * (1 + self.width * (_PIXEL_CYCLES + self.channels * int(value)))

    @property
    def least(self) -> int:
        """The least cycles of a row."""
        return self.cycles - 2


def average_loop() -> Listing:
    """Return the loop that makes averages of sums, which it sets to 0.

    Z goes through the sums, X through the averages, `left` counts them, r17:r16 is the multiplier,
    and r23 is 0.
    """
    return Listing(
        """
        average:
            ld   r20, Z
            ldd  r21, Z+1
            mul  r20, r16
            ldi  r22, 128   ; a half
            add  r22, r1
            clr  r19
            rol  r19
            mul  r21, r16
            add  r22, r0
            adc  r19, r1
            mul  r20, r17
            add  r22, r0
            adc  r19, r1
            mul  r21, r17
            add  r19, r0
            st   X+, r19
            st   Z+, r23
            st   Z+, r23
            sbiw %[left], 1
            brne average
            clr  r1
        """
    )


# By the compiler (avr-gcc 5.4 at -O2): a row that is taken; a row of windows that begins, and a
# value or a sum of it that is set to 0; and one that is complete.
_TAKEN_CYCLES, _BEGUN_CYCLES, _CLEARED_CYCLES, _OUTPUT_CYCLES = 48, 12, 8, 24
_AVERAGING_CYCLES = 30
_CALLS = 4  # for a row, at most

_CODE_BYTES = 240

# What the compiler's loops take of those in assembly, on a chip without a multiplier.
_PORTABLE = 3.0


@dataclass(frozen=True, eq=False)
class PoolingKernel(Kernel):
    """The largest values, or sums, of windows under way."""

    template: ClassVar[str] = "pooling/pooling.j2"

    stage: IntegerPooling
    core: Core
    name: str = "rows"

    @property
    def averages(self) -> bool:
        """Whether values are averages, and not the largest."""
        return self.stage.how == "average"

    @cached_property
    def loop(self) -> RowLoop:
        """What takes a row of the image."""
        _, windows, channels = self.stage.output_shape
        return RowLoop(windows, self.stage.window[1], channels, self.averages)

    @cached_property
    def rows(self) -> ImageRows:
        """The rows of the image."""
        return ImageRows(self.stage)

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,
        activity: Activity | None,  # noqa: ARG002  (all values take the same)
    ) -> Cost:
        """Return what it takes."""
        rows, loop = self.rows, self.loop
        count, outputs = self.stage.shape[0], self.stage.output_shape[0]
        least = count * loop.least + outputs * self._averaging
        begins = 1 if self.averages else -(-count // self.stage.window[0])
        cycles = count * (loop.cycles + _TAKEN_CYCLES) + begins * self._begun
        cycles += outputs * self._output
        calls = count * _CALLS * self.core.call_cycles
        worst = cycles + calls + rows.worst(feed, following, self.core)
        code = _CODE_BYTES + loop.listing.code_bytes + average_loop().code_bytes * self.averages
        step = Step(self.kind, self.name, code, cycles + rows.mean(feed, following), worst, least)
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=0,
            code=code,
            state=1 + 2 * self.stage.output_values * self.averages + rows.state(feed),
            buffer=rows.buffer(feed),
            push=rows.push,
            begin=self._begun,
        )

    @property
    def _begun(self) -> int:
        """Cycles of values, or sums, that are set to 0: by rows of windows, or once."""
        return _BEGUN_CYCLES + _CLEARED_CYCLES * self.stage.output_values

    @property
    def _averaging(self) -> int:
        """Cycles of the loop that makes a row of averages."""
        if not self.averages:
            return 0
        value = average_loop().worst("average", ("average",), {"average": 1})
        return self.stage.output_values * int(value)

    @property
    def _output(self) -> int:
        """Cycles of a row of the output."""
        return _OUTPUT_CYCLES + self._averaging + _AVERAGING_CYCLES * self.averages

    @property
    def average_loop(self) -> Listing:
        """What makes averages of sums."""
        return average_loop()


def kernels(stage: IntegerPooling, core: Core) -> tuple[Kernel, ...]:
    """Return its one kernel."""
    return (PoolingKernel(stage, core),)
