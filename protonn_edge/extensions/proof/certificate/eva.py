"""Frama-C's Eva on generated C: an abstract interpreter that reports all faults it cannot exclude.

Without an alarm, no execution of the driver, `templates/export/proof/`, reads or writes outside an
object, forms such a pointer, overflows a signed integer, shifts by too much or a negative number to
the left, divides by zero, or converts a float that an integer cannot hold.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from protonn_edge.chips.toolchain.process import run_within
from protonn_edge.codegen.renderer import PREFIX, template_environment
from protonn_edge.extensions.proof.additions import ProofAddition
from protonn_edge.extensions.proof.certificate.claims import NOT_CHECKED, PROVEN, Claim
from protonn_edge.system.errors import CheckFailed, InvalidValue, counted
from protonn_edge.system.extensions import additions_to
from protonn_edge.system.files import write_plainly
from protonn_edge.system.folders import scratch_folder

_DRIVER = "any_order"
INSTALL = "apt-get install --no-install-recommends frama-c-base"

_OPTIONS = (
    # An int has 16 bits, as on the AVR.
    *("-machdep", "x86_16"),
    *("-eva", "-eva-no-print", "-eva-no-show-progress"),
    # In addition to the default alarms: a pointer beyond an array, even if nothing is read. Right
    # shifts of negative numbers are arithmetic, which a static assertion checks. Unsigned numbers
    # may wrap around, conversions may cut off upper bits, and floats may be infinite or NaN.
    *("-warn-invalid-pointer", "-warn-special-float", "none"),
    # Separate states while a prediction runs.
    *("-eva-precision", "2", "-eva-partition-value", "begun", "-eva-interprocedural-splits"),
    *("-eva-split-limit", "65536"),
)
# Two ways: intervals alone, and relations between two counters, through calls, with short loops
# unrolled. Intervals are much faster for convolutions and functions that get a place among inputs,
# relations for trees.
_INTERVALS_FIRST = re.compile(r"_compute\(pnn_input_t|pnn_input_t \*\w+, pnn_place_t")
_INTERVALS = ("-eva-slevel", "1", "-eva-widening-delay", "3", "-eva-auto-loop-unroll", "1")
_RELATIONS = (
    *("-eva-domains", "octagon", "-eva-octagon-through-calls"),
    *("-eva-widening-delay", "10", "-eva-auto-loop-unroll", "32"),
)
_DECLARED = re.compile(r"^[\w* ]+\b(\w+)\(([^;{]*)\);", re.MULTILINE)  # functions of a header
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"\w+$")  # of a parameter, behind its type
# What the driver passes to functions that it has no call of its own for, by types of parameters.
_ARGUMENTS = {
    "void": "",
    "uint8_t": "any_byte()",
    "pnn_input_t": "any_byte()",
    "uint16_t": "any_word()",
    "int16_t": "(int16_t)any_word()",
    "float": "any_float",
}
_FILLED = ["uint8_t", "uint8_t *"]  # a number of entries, and an array of as many
_PROVEN = {"Valid", "Considered valid", "Dead", "Unreachable"}
_REACHED = re.compile(r"(\d+) statements reached \(out of (\d+)\)")
_DEADLINE_S = 600.0
_LONGEST = 300  # characters of an alarm
_SHOWN = 200  # characters of Frama-C's output


class EvaResult(NamedTuple):
    """The alarms that Eva found, and how much of the code it covered."""

    # rows of its report about properties that were not proven: "function", "line", "property", ...
    alarms: tuple[dict[str, str], ...]
    reached: int  # statements
    statements: int


def eva_version() -> str:
    """Return Frama-C's version; raises `InputError` if it is not installed."""
    if shutil.which("frama-c") is None:
        raise InvalidValue("frama-c", "not on PATH", f"to install it, run: {INSTALL}")
    return run_within(60.0, ["frama-c", "-version"], name="frama-c").stdout.strip()


def prove(folder: Path, deadline_s: float, prefix: str = PREFIX) -> EvaResult:
    """Run Eva on C in a folder, which it may write to; `CheckFailed` if it stops.

    The result is that of the first analysis without an alarm, or else of the last.
    """
    names = (f"{_DRIVER}.c", f"{prefix}_model.c", f"{_DRIVER}.csv")
    source, model, report = (folder / name for name in names)
    environment = template_environment("export", prefix)
    header = (folder / f"{prefix}_model.h").read_text(encoding="utf-8")
    calls = additions_to("proof", ProofAddition).values()
    added = [each.calls for each in calls if f"{prefix}_{each.function}(" in header]
    driver = environment.get_template(f"proof/{_DRIVER}.c.j2")
    other = _other_calls(header, driver.render(added=added, calls=[]), prefix)
    write_plainly(folder, {source.name: driver.render(added=added, calls=other)})
    files = {source.name, *(path.name for path in folder.glob(f"{prefix}_*"))}  # not libraries'
    ways = _RELATIONS, _INTERVALS
    for way in ways[:: -1 if _INTERVALS_FIRST.search(model.read_text(encoding="utf-8")) else 1]:
        command = [
            "frama-c",
            f"-cpp-extra-args=-I{folder}",
            *_OPTIONS,
            *way,
            str(source),
            str(model),
        ]
        command += ["-then", "-report-csv", str(report)]
        done = run_within(deadline_s, command, name="frama-c")
        match = _REACHED.search(done.stdout)
        if done.returncode != 0 or match is None:
            message = " ".join((done.stderr or done.stdout).split())[-_SHOWN:]
            raise CheckFailed(f"frama-c stopped with code {done.returncode}; it printed: {message}")
        result = EvaResult(tuple(_alarms(report, files)), int(match[1]), int(match[2]))
        if not result.alarms:
            break
    return result


def _other_calls(header: str, driver: str, prefix: str) -> list[str]:
    """Return statements that call the functions of a header that a driver does not call.

    Raises `CheckFailed` for a function whose parameters it cannot choose: not called, it would be
    proven by nothing.
    """
    calls = []
    for name, parameters in _DECLARED.findall(_COMMENT.sub("", header)):
        if f"{name}(" in driver:
            continue
        types = [_NAME.sub("", each.strip()).strip() or each for each in parameters.split(",")]
        types = [each.replace(f"{prefix}_", f"{PREFIX}_") for each in types]
        if types == _FILLED:
            calls.append(f"FILL({name});")
        elif {*types} <= {*_ARGUMENTS}:
            calls.append(f"{name}({', '.join(_ARGUMENTS[each] for each in types)});")
        else:
            raise CheckFailed(f"the proof has no call of {name}({parameters})")
    return calls


def _alarms(report: Path, files: set[str]) -> list[dict[str, str]]:
    with report.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for row in rows if row["status"] not in _PROVEN and row["file"] in files]


def memory_safety(sources: Mapping[str, str], *, asked: bool, prefix: str = PREFIX) -> Claim:
    """Return the claim that a model's portable C, files by name, is free of undefined behaviour.

    Raises `InputError` if it is to be proven, and Frama-C is not installed.
    """
    sentence = (
        "the portable C has no undefined behaviour for any input and any order of calls: no access "
        "out of bounds, no overflow, no invalid shift"
    )
    if not asked:
        how = f"add --prove; to install Frama-C, run: {INSTALL}"
        return Claim("memory-safety", sentence, NOT_CHECKED, how)
    version = eva_version()
    with scratch_folder() as folder:
        write_plainly(folder, {Path(name).name: text for name, text in sources.items()})
        alarms = prove(folder, _DEADLINE_S, prefix).alarms
    if alarms:
        first = "{function} at line {line}: {property}".format_map(alarms[0])
        found = counted(len(alarms), "alarm")
        by = f"Frama-C {version} cannot exclude {found}, the first in {first}"
        return Claim("memory-safety", sentence, NOT_CHECKED, by[:_LONGEST])
    by = (
        f"Frama-C {version}, whose plugin Eva reports no alarm with a 16-bit int, for any order of "
        "calls"
    )
    return Claim("memory-safety", sentence, PROVEN, by)
