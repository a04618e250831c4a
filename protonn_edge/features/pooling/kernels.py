"""The kernels of pooling, which add rows to the windows or areas that they are in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed, moved
from protonn_edge.codegen.kernels.matvec.loops import COUNTED_IN_A_BYTE
from protonn_edge.features.images.image_rows import ImageKernel
from protonn_edge.features.pooling.integers import IntegerAveragePooling, IntegerPooling
from protonn_edge.features.pooling.loops import WHOLE_AREA_PIXELS, AreaLoops, average_of

# Cycles of a value of a window, of a pixel of an area, whose rows are whole, and of an average.
_VALUE_CYCLES, _PIXEL_CYCLES, _AVERAGE_CYCLES = {False: 14, True: 18}, {False: 16, True: 6}, 30

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
        back = "\n".join(moved(30, -channels * (2 if self.averages else 1)))
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
                {back}
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
                {average_of(self.stage.scale, "r16", "r17")}
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

    def cost(self, _feed: Feed | None, /) -> Cost:
        """Return its cost; all values take the same cycles."""
        rows, stage = self.rows, self.stage
        count, outputs = stage.shape[0], stage.output_shape[0]
        begins = 1 if self.averages else -(-count // stage.window[0])
        values = count * stage.output_values * stage.window[1]
        averages = self.averages * outputs * stage.output_values
        cycles: float = _VALUE_CYCLES[self.averages] * values + _AVERAGE_CYCLES * averages
        cycles += compiled.TURN_CYCLES * begins * stage.output_values
        cycles += compiled.calls(count + outputs, self.core)
        return self._with_code(
            cycles + rows.cycles,
            0,
            state=1 + 2 * stage.output_values * self.averages + rows.state,
        )

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loops over rows and, if they are averages, over sums."""
        return (self.loop, self.average_loop) if self.averages else (self.loop,)


@dataclass(frozen=True, eq=False)
class AveragePoolingKernel(Kernel):
    """Computes averages of areas, row by row."""

    stage: IntegerAveragePooling
    name: str = "rows"

    @property
    def whole_rows(self) -> bool:
        """Whether whole rows have their own loop."""
        rows, columns = self.stage.pooling.rows, self.stage.pooling.columns
        return (
            rows.pixel_units == columns.pixel_units == 1
            and rows.output_units > 1
            and columns.output_units <= WHOLE_AREA_PIXELS
            and columns.pixels <= COUNTED_IN_A_BYTE
        )

    @cached_property
    def loops(self) -> AreaLoops:
        """The loops over pixels."""
        return AreaLoops(self.stage.pooling, self.stage.scale)

    @cached_property
    def facts(self) -> dict[str, Facts]:
        """How often the loops over parts of rows, or over whole rows, are passed."""
        rows, columns, outputs = (
            self.stage.pooling.rows,
            self.stage.pooling.columns,
            self.stage.n_outputs,
        )
        pixels = rows.pixels * columns.pixels
        each = Passed(pixels, pixels, name="pixels")
        area = each._replace(weight=columns.output_units)
        average = Passed(outputs, outputs, name="averages")
        last = "complete" if rows.output_units > 1 else "average"
        part: Facts = {
            "pixel": each,
            "last": Passed(rows.pixels * columns.outputs),
            last: Passed(outputs),
            "store": average,
        }
        return {"part": part, "summing": {"area": area}, "averaging": {"area": [area, average]}}

    def cost(self, feed: Feed | None, /) -> Cost:
        """Return its cost."""
        return self._with_code(self._cycles(feed), 0, state=self._state)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loops for parts of rows, or for whole rows."""
        return (self.loops.part, self.loops.summing, self.loops.averaging)

    def _cycles(self, feed: Feed | None) -> float:
        """Return about the cycles of an image without an average of 0."""
        rows, columns = self.stage.pooling.rows, self.stage.pooling.columns
        begin = compiled.TURN_CYCLES * columns.outputs * (rows.output_units > 1)
        pixels = _PIXEL_CYCLES[self.whole_rows] * rows.pixels * columns.pixels
        pixels += _AVERAGE_CYCLES * self.stage.n_outputs
        functions = 2 + rows.pixels * (1 + (feed is None))
        return begin + pixels + compiled.calls(functions, self.core)

    @property
    def _state(self) -> int:
        """SRAM of the current sums, and of averages."""
        rows, columns = self.stage.pooling.rows, self.stage.pooling.columns
        sums = 1 + 2 * columns.outputs if rows.output_units > 1 else 0
        return sums + self.stage.n_outputs + 2


def kernels(stage: IntegerPooling | IntegerAveragePooling, core: Core) -> tuple[Kernel, ...]:
    """Return the kernel of a stage, which is the only one."""
    kernel = PoolingKernel if isinstance(stage, IntegerPooling) else AveragePoolingKernel
    return kernel.of(stage, core)
