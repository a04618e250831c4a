"""The kernel of the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.decision.integers import IntegerDecision
from protonn_edge.chain.decision.rejection import UNKNOWN, IntegerRejection
from protonn_edge.kernels.decision.cycles import (
    LARGEST_CALL_CYCLES,
    LARGEST_CYCLES,
    LARGEST_LEAST_CYCLES,
    SECOND_CALL_CYCLES,
    rejection_bytes,
    rejection_cycles,
)
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step

# Time of the compiler's loops relative to assembly, on a chip without a multiplier.
_PORTABLE_LARGEST, _PORTABLE_REJECTION = 10.1, 4.0


@dataclass(frozen=True)
class DecisionContext:
    """The context of ``templates/c/decision``."""

    n_classes: int
    score_bits: int
    rejection: IntegerRejection | None
    unknown: int


@dataclass(frozen=True, eq=False)
class DecisionKernel(Kernel):
    """A single pass over the scores."""

    template: ClassVar[str] = "decision/decision.j2"

    stage: IntegerDecision
    core: Core
    name: str = "largest"

    def cost(
        self,
        feed: Feed | None,  # noqa: ARG002  (scores are in place)
        following: Push | None,  # noqa: ARG002
        activity: Activity | None,
    ) -> Cost:
        """Return its cost."""
        stage, by = self.stage, self.stage.statistics
        size, classes = stage.score_bits // 8, stage.n_inputs
        worst, least = classes * LARGEST_CYCLES[size], classes * LARGEST_LEAST_CYCLES[size]
        mean = None if activity is None else worst
        at_most = worst + LARGEST_CALL_CYCLES[size]
        decision = Step("decision", self.name, 0, mean, at_most, least)
        steps = [decision.on(self.core, _PORTABLE_LARGEST)]
        if by:
            cycles, flash = rejection_cycles(by, classes, size), rejection_bytes(by)
            mean = None if activity is None else cycles
            at_most = cycles + (SECOND_CALL_CYCLES[size] if "margin" in by else 0)
            rejection = Step("rejection", ", ".join(by), flash, mean, at_most, 0)
            steps.append(rejection.on(self.core, _PORTABLE_REJECTION))
        return Cost(tuple(steps), tables=0, code=rejection_bytes(by), state=0)

    def context(self) -> DecisionContext:
        """Return the template context, with data in the order of the generated program."""
        stage = self.stage
        return DecisionContext(stage.n_inputs, stage.score_bits, stage.rejection, UNKNOWN)


def kernels(stage: IntegerDecision, core: Core) -> tuple[Kernel, ...]:
    """Return its only kernel."""
    return (DecisionKernel(stage, core),)
