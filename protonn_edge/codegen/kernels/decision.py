"""The kernel of the decision: the search for the largest score, and the rules of the policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed, repeated
from protonn_edge.model.decision import IntegerDecision
from protonn_edge.model.watch import WatchCost


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
    def summed(self) -> str:
        """The watched bytes of a score, as letters of assembly operands; "" if none."""
        expected = self.stage.expected
        return "" if expected is None else "ABCD"[expected.shifted_bytes :][:2]

    @cached_property
    def search(self) -> Listing:
        """The loop over the scores after the first one; `l` is the class of the next."""
        size = self.stage.scores.bits // 8
        registers = "AC"[: size // 2]
        larger = repeated(registers, "movw %{0}[largest], %{0}[score]")
        others = summed = overtaken = behind = ""
        if self.summed:
            lower, upper = (f"%{byte}[score]" for byte in self.summed)
            summed = f"add %A[sum], {lower}\nadc %B[sum], {upper}"
            overtaken, behind = "mov %[runner_up], %[best]", "mov %[runner_up], %[l]"
        if self.second:
            larger = repeated(registers, "movw %{0}[second], %{0}[largest]") + larger
            others = f"""
                rjmp next
            not_larger:
                {_compared("second", size)}
                brge next
                {repeated(registers, "movw %{0}[second], %{0}[score]")}
                {behind}
            """
        return Listing(
            f"""
            class:
                {repeated("ABCD"[:size], "ld %{}[score], %a[next]+")}
                {summed}
                {_compared("largest", size)}
                brge {"not_larger" if self.second else "next"}
                {larger}
                {overtaken}
                mov  %[best], %[l]
                {others}
            next: inc %[l]
                cpi  %[l], %[classes]
                brne class
            """
        )

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The search."""
        return (self.search,)

    @property
    def facts(self) -> Facts:
        """The passes of its loop."""
        return {"class": Passed(self.stage.n_inputs - 1, self.stage.n_inputs - 1)}

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost."""
        watch, costs = self.stage.expected, [rule.cost() for rule in self.stage.policy.rules]
        watched = WatchCost() if watch is None else watch.cost
        return Cost(
            sum(map(self._class_cycles, range(1, self.stage.n_inputs + 1)))
            + sum(each.cycles for each in costs)
            + watched.cycles,
            watched.tables,
            sum(each.code for each in costs) + watched.code,
            watched.state,
        )

    def _class_cycles(self, number: int) -> int:
        """Return the cycles of a class if the first scores are the largest and the second.

        What is set up for the first class takes about as long.
        """
        taken = {"not_larger": number > 1, "next": number > 1 + self.second, "class": 1}
        return self.search.path("class", ["class"], taken)


def _compared(score: str, size: int) -> str:
    """Return the comparison of the largest or second score with the score of a class."""
    others = repeated("BCD"[: size - 1], f"cpc %{{0}}[{score}], %{{0}}[score]")
    return f"cp %A[{score}], %A[score]\n{others}"


kernels = DecisionKernel.of
