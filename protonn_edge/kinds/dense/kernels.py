"""The kernels of a hidden layer: those of its product, and the loop from sums to bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.matvec.kernels import MatvecKernel, kernel_names
from protonn_edge.kinds.dense.integers import IntegerDense
from protonn_edge.kinds.dense.rectifying import Rectifying

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
