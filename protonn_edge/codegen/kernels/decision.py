"""The kernel of the decision: the search for the largest score, and the rules of the policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.model.decision import IntegerDecision
from protonn_edge.model.watch import WatchCost

# Cycles of a byte of a score, without and with the second largest.
_BYTE_CYCLES = {False: 7, True: 12}


@dataclass(frozen=True, eq=False)
class DecisionKernel(Kernel):
    """A single pass over the scores."""

    stage: IntegerDecision
    name: str = "largest"

    @classmethod
    def of(cls, stage: Any, core: Core) -> tuple[Kernel, ...]:
        """Return the only kernel; its name shows whether answers are watched."""
        watch = stage.expected
        return (cls(stage, core, "largest" if watch is None else watch.kernel),)

    @property
    def second(self) -> bool:
        """Whether the second largest score is needed."""
        needed = any(rule.needs_second for rule in self.stage.policy.rules)
        return needed or self.stage.expected is not None

    @property
    def summed(self) -> bool:
        """Whether the scores are added up, for the watch."""
        return self.stage.expected is not None

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost."""
        watch, costs = self.stage.expected, [rule.cost() for rule in self.stage.policy.rules]
        watched = WatchCost() if watch is None else watch.cost
        return Cost(
            _BYTE_CYCLES[self.second] * self.stage.n_inputs * self.stage.scores.bits // 8
            + sum(each.cycles for each in costs)
            + watched.cycles,
            watched.tables,
            sum(each.code for each in costs) + watched.code,
            watched.state,
        )


kernels = DecisionKernel.of
