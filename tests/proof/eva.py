"""Frama-C's Eva on generated C: an abstract interpreter that reports what it cannot exclude.

Without an alarm, no execution of a driver reads or writes outside an object, forms such a pointer,
overflows a signed integer, shifts by too much or a negative number to the left, divides by zero, or
converts a float that an integer cannot hold.
"""

from __future__ import annotations

import csv
import re
import resource
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

DRIVERS = {name: Path(__file__).with_name(f"{name}.c") for name in ("correct_use", "any_order")}
INSTALL = "apt-get install --no-install-recommends frama-c-base"

OPTIONS = (
    # An int has 16 bits, as on the AVR.
    *("-machdep", "x86_16"),
    *("-eva", "-eva-no-print", "-eva-no-show-progress"),
    # Beside the default alarms: a pointer beyond an array, even if nothing is read there. Right
    # shifts of negative numbers are arithmetic, which a static assertion checks. Unsigned numbers
    # may wrap around, conversions may cut off upper bits, and floats may be infinite or NaN.
    *("-warn-invalid-pointer", "-warn-special-float", "none"),
    # Relations between two counters, through calls; and states apart by whether a prediction runs.
    *("-eva-precision", "2", "-eva-domains", "octagon", "-eva-octagon-through-calls"),
    *("-eva-partition-value", "begun", "-eva-interprocedural-splits"),
    *("-eva-split-limit", "65536", "-eva-widening-delay", "10", "-eva-auto-loop-unroll", "32"),
)

_PROVEN = {"Valid", "Considered valid", "Dead", "Unreachable"}
_REACHED = re.compile(r"(\d+) statements reached \(out of (\d+)\)")


@dataclass(frozen=True)
class Alarm:
    """What was not proven, at a line of a file."""

    file: str
    line: int
    function: str
    kind: str
    property: str


@dataclass(frozen=True)
class Proof:
    """What Eva found: in how many seconds of one core, and how much of the code it went through."""

    seconds: float
    alarms: tuple[Alarm, ...]
    reached: int
    statements: int


class TooLongError(Exception):
    """Eva took more than its seconds."""


def prove(folder: Path, driver: str, seconds: int) -> Proof:
    """Run a driver on the model whose C is in a folder; `TooLongError` beyond so many seconds."""
    report = folder / f"{driver}.csv"
    header = (folder / "pnn_model.h").read_text(encoding="utf-8")
    defines = [f"-D{name.upper()}" for name in ("confidence", "onset") if f"pnn_{name}" in header]
    command = [
        *("frama-c", f"-cpp-extra-args={' '.join([f'-I{folder}', *defines])}", *OPTIONS),
        *(str(DRIVERS[driver]), str(folder / "pnn_model.c"), "-then", "-report-csv", str(report)),
    ]
    before = _cpu_seconds()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1)),
    )
    taken = _cpu_seconds() - before
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        raise TooLongError
    found = _REACHED.search(done.stdout)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    assert found is not None, done.stdout[-2_000:]
    return Proof(taken, tuple(_alarms(report)), int(found[1]), int(found[2]))


def _alarms(report: Path) -> list[Alarm]:
    files = {"pnn_model.c", *(driver.name for driver in DRIVERS.values())}  # not those of libraries
    with report.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Alarm(
            row["file"],
            int(row["line"]),
            *(row[k] for k in ("function", "property kind", "property")),
        )
        for row in rows
        if row["status"] not in _PROVEN and row["file"] in files
    ]


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
