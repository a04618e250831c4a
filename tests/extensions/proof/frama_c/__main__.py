"""Prove the C of all kinds and kernels, as ``make prove`` does: ``python -m ... [NAME ...]``.

Print, for each program whose name contains one of the arguments, seconds of one core, the number
of alarms, and what they are.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from extensions.proof.frama_c.limited import proven
from extensions.proof.frama_c.programs import Program, programs
from generated_programs import write_c

from protonn_edge.extensions.proof.certificate.eva import INSTALL
from protonn_edge.system.errors import CheckFailed


def main() -> int:
    """Return 1 if a program has an alarm, or takes too long."""
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of names; without any, all programs")
    parser.add_argument("--seconds", type=int, default=600, help="of a core")
    parser.add_argument("--list", action="store_true", help="print the names")
    asked = parser.parse_args()
    chosen = [
        program
        for program in programs()
        if not asked.names or any(name in program.name for name in asked.names)
    ]
    if asked.list:
        _print(*(program.name for program in chosen))
        return 0
    if shutil.which("frama-c") is None:
        _print(f"frama-c is missing: {INSTALL}")
        return 1
    _print(f"{'program':90} {'s, alarms':>22}")
    return min(1, sum([_proven(program, asked.seconds) for program in chosen]))


def _print(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _proven(program: Program, seconds: int) -> int:
    """Print the line of a program; return whether something is not proven."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_c(program.model, folder, program.plan)
        before = _cpu_seconds()
        try:
            alarms = proven(folder, seconds).alarms
        except CheckFailed:
            _print(f"{program.name:90} {f'over {seconds} s':>22}")
            return True
    found = f"{_cpu_seconds() - before:.1f}, {len(alarms)}"
    details = map("    {function}, line {line}: {property}".format_map, alarms)
    _print(f"{program.name:90} {found:>22}", *details)
    return bool(alarms)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
