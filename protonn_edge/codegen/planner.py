"""Choose the fastest plan that fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from protonn_edge.boards import Board
from protonn_edge.boards.cores import UNO_CORE, Core
from protonn_edge.codegen.kernels import KERNELS, KernelName
from protonn_edge.codegen.plan import Plan, plan_with
from protonn_edge.errors import InputError
from protonn_edge.quantization import Activity, IntegerModel

READABLE_BYTES = 0x10000
"""Flash that the generated code can read constants from: LPM has a pointer of 16 bits."""

_OTHER_CONSTANTS = 2_048  # vectors, names of classes, and what the compiler puts in front of them


@dataclass(frozen=True)
class Limits:
    """What the firmware may take, in bytes: flash, and SRAM with the stack; and on what chip."""

    flash_bytes: int = 32_256
    sram_bytes: int = 2_048
    core: Core = UNO_CORE

    @classmethod
    def of(cls, board: Board) -> Limits:
        """Return all that a board has."""
        return cls(board.flash_bytes, board.sram_bytes, board.cpu)

    def hold(self, plan: Plan) -> bool:
        """Whether a plan fits, as far as can be told before it is linked."""
        return (
            plan.flash_bytes <= self.flash_bytes
            and plan.sram_bytes <= self.sram_bytes
            and plan.table_bytes <= READABLE_BYTES - _OTHER_CONSTANTS
        )


def make_plan(
    model: IntegerModel,
    limits: Limits | None = None,
    *,
    kernel: KernelName | None = None,
    activity: Activity | None = None,
) -> Plan:
    """Return the fastest plan that fits, or the smallest if none does: the first of `plans`."""
    return plans(model, limits, kernel=kernel, activity=activity)[0]


def plans(
    model: IntegerModel,
    limits: Limits | None = None,
    *,
    kernel: KernelName | None = None,
    activity: Activity | None = None,
) -> list[Plan]:
    """Return the plans that are worth a try, the fastest of those that seem to fit first.

    Parameters
    ----------
    model : IntegerModel
        The model to generate a program for.
    limits : Limits, optional
        What the program may take; by default all that an Arduino Uno has.
    kernel : {"columns", "masked", "unrolled"}, optional
        The only one to take.
    activity : Activity, optional
        How much there is to do on the points that the model is for. Without it the fastest plan is
        the one that is fastest if no input is 0, and mean cycles are not known.

    Returns
    -------
    list of Plan
        At least one. The last one is the smallest: if it does not fit, none does.
    """
    limits = limits or Limits()
    every = list(every_plan(model, limits.core, kernel=kernel, activity=activity))
    fitting = [plan for plan in every if limits.hold(plan)]
    small_enough = [plan for plan in every if plan.sram_bytes <= limits.sram_bytes]
    smallest = min(small_enough or every, key=lambda plan: (plan.flash_bytes, plan.sram_bytes))
    return [*sorted(fitting, key=_cycles), *([] if smallest in fitting else [smallest])]


def every_plan(
    model: IntegerModel,
    core: Core = UNO_CORE,
    *,
    kernel: KernelName | None = None,
    activity: Activity | None = None,
) -> Iterator[Plan]:
    """Yield every plan that there is for a kind of chip, whether it fits or not."""
    for each in _kernels(kernel, core):
        for buffered in _buffering(model, core):
            for keeps in (True,) if model.pooling is None else (True, False):
                yield plan_with(
                    model, each, activity, buffered=buffered, keeps_averages=keeps, core=core
                )


def _kernels(wished: KernelName | None, core: Core) -> tuple[KernelName, ...]:
    """Return the kernels to choose from: multiples as instructions are for chips that multiply."""
    able = tuple(each for each in KERNELS if core.multiplies or each != "unrolled")
    if wished is None:
        return able
    if wished not in able:
        raise InputError(
            f"--plan {wished} needs a hardware multiplier, which {core.chip} has not; choose one "
            f"of {', '.join(able)}"
        )
    return (wished,)


def _buffering(model: IntegerModel, core: Core) -> tuple[bool, ...]:
    """Return whether the firmware may hold all features, or may not.

    What is pushed as it arrives must take a known time. Of windows sums are kept, no samples.
    """
    if not core.multiplies:
        return (True,)
    return (True, False) if model.window_features is None else (False,)


def _cycles(plan: Plan) -> float:
    return plan.worst_cycles if plan.mean_cycles is None else plan.mean_cycles
