"""The cycles of a board's work on a model's windows, estimated before its program is linked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from protonn_edge.codegen import Plan
from protonn_edge.codegen.plan import plan_with

if TYPE_CHECKING:
    from protonn_edge.projects.windowing import Windowing

# In cycles, rounded up from measurements on simulated boards.
_QUANTIZE_CYCLES = 250
_KEEP_CYCLES = 100
_EXTREMES_CYCLES = 40
_OUTPUT_CYCLES = 1_000  # for each output of the first stage at the end of a window
_AT_MOST = 1.25  # times the mean, for inputs that are never 0, before the program is linked


@dataclass(frozen=True)
class Load:
    """The cycles of a board's work on windows."""

    window_cycles: float  # for all samples of a window, and its class
    ending_cycles: float  # for the last sample of a window, and its class
    sample_cycles: float  # for any other sample
    interrupt_cycles: float  # of all interrupts of a sample


def estimated_load(windowing: Windowing, plan: Plan) -> Load:
    """Return the load, about, before the program is linked."""
    values = len(windowing.used)
    held, chunk = (True, None) if windowing.overlapping else (False, values)  # a call for a sample
    first, *others = plan_with(plan.kernels, held=held, chunk=chunk).costs
    interrupts = windowing.sampling.interrupt_cycles + _KEEP_CYCLES + _QUANTIZE_CYCLES * values
    interrupts += _EXTREMES_CYCLES * len(windowing.trained)
    pushed, following = (
        _AT_MOST * sum(step.mean for cost in costs for step in cost.steps)
        for costs in ([first], others)
    )
    sample = pushed / windowing.window
    outputs = plan.kernels[1].stage.n_inputs
    ending = min(pushed, sample + _OUTPUT_CYCLES * outputs) + following
    return Load(pushed + following, ending, sample, interrupts)
