"""The last stages of a chain with a kernel each, and which of them are worth trying."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Kernel, Push


@dataclass(frozen=True, eq=False)
class End:
    """The kernels of the last stages of a chain, and what each of them takes.

    Attributes
    ----------
    kernels : tuple of Kernel
    costs : tuple of Cost
    """

    kernels: tuple[Kernel, ...] = ()
    costs: tuple[Cost, ...] = ()

    def behind(self, kernel: Kernel, known: Activity | None) -> End:
        """Return the end that begins a stage earlier, of which so much is known."""
        cost = kernel.cost(None, self.push, known)
        return End((kernel, *self.kernels), (cost, *self.costs))

    @property
    def push(self) -> Push | None:
        """What pushing into it takes."""
        return self.costs[0].push if self.costs else None

    @cached_property
    def takes(self) -> tuple[float, ...]:
        """Cycles, flash and SRAM, and what they mean for the stage before; less is better."""
        steps = [step for cost in self.costs for step in cost.steps]
        cycles = sum(step.worst if step.mean is None else step.mean for step in steps)
        cycles -= sum(cost.exclusive for cost in self.costs if steps[0].mean is None)
        flash = sum(cost.tables + cost.code for cost in self.costs)
        return cycles, flash, sum(cost.state for cost in self.costs), *_of_push(self.push)

    def beats(self, other: End) -> bool:
        """Whether it takes less of something than another end, and more of nothing."""
        return self.takes != other.takes and all(
            one <= two for one, two in zip(self.takes, other.takes, strict=True)
        )


def _of_push(push: Push | None) -> tuple[float, ...]:
    if push is None:
        return ()
    more = float(np.sum(push.more))
    return push.value, push.zero, push.call, push.whole, push.whole_mean, more, -push.least
