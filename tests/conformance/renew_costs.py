"""Write the known costs anew: ``python tests/conformance/renew_costs.py``; read the difference."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parents[1]))

from conformance.instances import KINDS, Program, modules_of, programs_in

from protonn_edge.chips.cores import CORES
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits, make_plan, plan_of
from protonn_edge.system.files import write_atomically

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


def known_costs_of(module: ModuleType) -> Path:
    """Return the file of the costs of a module's programs."""
    path = Path(str(module.__file__))
    return path.parent / "costs" / f"{path.stem}.txt"


def lines_of(module: ModuleType) -> Iterator[str]:
    """Yield two lines for each program of a module."""
    for program in programs_in(module):
        yield name_of(program)
        yield "    " + ", ".join(f"{name} {value}" for name, value in costs_of(program).items())


if __name__ == "__main__":
    for module in (module for kind in KINDS for module in modules_of(kind)):
        path = known_costs_of(module)
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, "".join(f"{line}\n" for line in lines_of(module)))
