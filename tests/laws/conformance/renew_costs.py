"""Write the known costs anew; read the difference.

Run it as ``python tests/laws/conformance/renew_costs.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parents[2]))

from laws.conformance.instances import KINDS, Program, modules_of, programs_in

from protonn_edge.system.files import write_atomically


def costs_of(program: Program) -> dict[str, str]:
    """Return the figures of a program's plan, by name."""
    plan = program.plan
    return {
        "cycles": f"{plan.cycles:.0f}",
        "flash": f"{plan.flash_bytes} tables {plan.table_bytes}",
        "sram": f"{plan.sram_bytes} variables {plan.state_bytes}",
    }


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
