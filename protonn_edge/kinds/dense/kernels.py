"""The kernels of a hidden layer: those of its product, and the loop from sums to bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.listing import Listing
from protonn_edge.kernels.matvec.kernels import MatvecKernel, kernel_names
from protonn_edge.kinds.dense.integers import IntegerDense

_LIMIT = """
    breq store
    ldi  r24, 255
"""
_LOOP_CYCLES = 3  # dec, and brne to the next unit


@dataclass(frozen=True)
class Rectifying:
    """The loop for sums of two bytes, after the lower `dropped` ones.

    Attributes
    ----------
    dropped : int
        0 or 1.
    limits : bool
        Whether values may exceed their limit.
    """

    dropped: int
    limits: bool

    @cached_property
    def listing(self) -> Listing:
        """The instructions: X points to the sums, Z to the values, r20 is 0."""
        return Listing(
            f"""
            unit:
                {f"adiw r26, {self.dropped}" if self.dropped else ""}
                ld   r18, X+
                ld   r19, X+
                clr  r24
                tst  r19
                brmi rest ; below 0
                mul  r18, %[multiplier]
                mov  r24, r1
                mul  r19, %[multiplier]
                add  r24, r0
                adc  r1, r20
                {_LIMIT if self.limits else ""}
            store:
            rest:
                st   Z+, r24
            next:
                dec  %[left]
                brne unit
            """
        )

    def worst(self, units: int) -> int:
        """Return the maximum cycles for a number of units."""
        return self._all(units, self.listing.worst("unit", ["next"], {}))

    def least(self, units: int) -> int:
        """Return the minimum cycles for a number of units."""
        return self._all(units, self.listing.least("unit", ["next"], {}))

    def mean(self, units: int, positive: float) -> float:
        """Return the cycles for a share of units not below 0, few of them at the limit."""
        odds = {"rest": 1 - positive, "store": 1.0}
        return units * (self.listing.mean("unit", ["next"], odds) + _LOOP_CYCLES)

    @staticmethod
    def _all(units: int, each: float) -> int:
        return units * (int(each) + _LOOP_CYCLES)


# Compiled code around the loop; and how many fewer cycles the call of the next stage takes on
# average, all included, than the firmware's calls, which the next stage counts.
_AROUND_CYCLES, _CALLED_LESS = 30, 85

# What the compiler's loop takes on a chip without a multiplier, of that in assembly with one.
_PORTABLE = 10.0

_CODE_BYTES = 60


@dataclass(frozen=True, eq=False)
class DenseKernel(MatvecKernel):
    """A hidden layer with weights in columns, behind masks, as instructions, or two to a byte."""

    template: ClassVar[str] = "dense/dense.j2"

    stage: IntegerDense

    @cached_property
    def rectifying(self) -> Rectifying:
        """The loop behind the product."""
        return Rectifying(self.stage.accumulator_bits // 8 - 2, self.stage.limits)

    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None) -> Cost:
        """Return its cost."""
        assert following is not None
        stage, matvec = self.stage, self.matvec
        weights, code = matvec.bytes
        rectify = self._rectify(following, activity).on(self.core, _PORTABLE)
        return Cost(
            steps=(matvec.step(stage.kind, feed, activity), rectify),
            tables=weights + matvec.sum_bytes,
            code=code + _CODE_BYTES,
            state=matvec.state,
            push=matvec.push,
            begin=matvec.begin_at_most,
        )

    def _rectify(self, following: Push, activity: Activity | None) -> Step:
        """Return the step that converts sums to bytes, and passes them on in one call."""
        loop, units = self.rectifying, self.stage.n_outputs
        mean = None
        if activity is not None:
            (shares,) = activity.stages[self.kind]
            mean = loop.mean(units, float(shares.mean())) + following.whole_mean - _CALLED_LESS
        worst = loop.worst(units) + _AROUND_CYCLES + self.core.call_cycles + following.whole
        return Step("rectify", "loop", _CODE_BYTES, mean, math.ceil(worst), loop.least(units))


def kernels(stage: IntegerDense, core: Core) -> tuple[Kernel, ...]:
    """Return a kernel for each way of storing W."""
    return tuple(DenseKernel(stage, name, core) for name in kernel_names(stage, core))
