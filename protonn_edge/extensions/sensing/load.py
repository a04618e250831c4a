"""The cycles of a board's work on a model's windows, estimated before its program is linked."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.codegen.plan import Plan, plan_with

# In cycles, rounded up from measurements on simulated boards.
_QUANTIZE_CYCLES = 250
_KEEP_CYCLES = 100
_OUTPUT_CYCLES = 1_000  # for each output of the first stage at the end of a window
_AT_MOST = 1.25  # times the mean, for inputs that are never 0, before the program is linked


@dataclass(frozen=True)
class Load:
    """The cycles of a board's work on windows."""

    window_cycles: float  # for all samples of a window, and its class
    ending_cycles: float  # for the last sample of a window, and its class
    sample_cycles: float  # for any other sample
    interrupt_cycles: float  # of all interrupts of a sample


def estimated_load(
    plan: Plan, samples: int, values: int, interrupt_cycles: int, *, overlapping: bool
) -> Load:
    """Return the load, about, of windows of this number of samples, each of some values.

    `interrupt_cycles` are those of reading a sample. A first stage that can be streamed takes each
    sample as it arrives, unless windows are `overlapping`.
    """
    streamed = not (overlapping or plan.kernels[0].holds_inputs)
    chunk = values if streamed else plan.feed.values
    first, *others = plan_with(plan.kernels, chunk).costs
    interrupts = interrupt_cycles + _KEEP_CYCLES + _QUANTIZE_CYCLES * values
    pushed, following = (
        _AT_MOST * sum(cost.cycles for cost in costs) for costs in ([first], others)
    )
    sample = pushed / samples * streamed
    ending = pushed
    if streamed:
        ending = min(pushed, sample + _OUTPUT_CYCLES * plan.kernels[1].stage.n_inputs)
    return Load(pushed + following, ending + following, sample, interrupts)
