"""Write the known costs anew: ``python tests/conformance/renew_costs.py``; read the difference."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from conformance.instances import KINDS, Program, programs_of

from protonn_edge.chips.cores import CORES
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits, make_plan, plan_of
from protonn_edge.system.files import write_atomically

KNOWN = Path(__file__).with_name("costs")  # a file for each kind
LARGER_CORES = ("avr51", "avr6")  # calls and jumps through tables take longer there
WITHOUT_MULTIPLIER = Limits(core=CORES["avr25"])  # loops are the compiler's there


def costs_of(program: Program) -> dict[str, str]:
    """Return the figures of a program's plan, by name."""
    plan = program.plan
    others = (
        plan_of(program.instance.model, plan.choices, core=CORES[core]).mean_cycles
        for core in LARGER_CORES
    )
    return {
        "mean": f"{plan.mean_cycles:.3f}",
        "larger": " ".join(f"{mean:.3f}" for mean in others),
        "avr25": _feeding_and_cycles(make_plan(program.instance.model, WITHOUT_MULTIPLIER)),
        "flash": f"{plan.flash_bytes} tables {plan.table_bytes}",
        "sram": f"{plan.sram_bytes} variables {plan.state_bytes}",
    }


def _feeding_and_cycles(plan: Plan) -> str:
    return f"{plan.choices['feeding']} {plan.mean_cycles:.3f}"


def name_of(program: Program) -> str:
    """Return the kind, the instance and the kernels."""
    plan, instance = program.plan, program.instance
    kernels = ", ".join(f"{name} {kernel}" for name, kernel in plan.choices.items())
    return f"{instance.stage.kind}, {instance.name}: {kernels}"


def lines_of(kind: str) -> Iterator[str]:
    """Yield two lines for each program of a kind."""
    for program in programs_of(kind):
        yield name_of(program)
        yield "    " + ", ".join(f"{name} {value}" for name, value in costs_of(program).items())


if __name__ == "__main__":
    for kind in KINDS:
        lines = "".join(f"{line}\n" for line in lines_of(kind))
        write_atomically(KNOWN / f"{kind}.txt", lines)
