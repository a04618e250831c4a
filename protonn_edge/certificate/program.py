"""Claims about a linked program, whatever compiled it: what follows from its machine code."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from protonn_edge.avr.flow import function_at
from protonn_edge.avr.paths import paths_through
from protonn_edge.avr.program import LinkedProgram, float_routines, read_program
from protonn_edge.avr.stack import stack_of, worst_case_stack
from protonn_edge.certificate import claims
from protonn_edge.certificate.claims import Certificate, Claim, Settings
from protonn_edge.errors import CheckFailed, InputError

_ALLOCATION = re.compile(r"malloc|calloc|realloc|free|_Zn[wa]\w*|_Zd[la]\w*|alloca")
_READ = "the sections of the ELF file"
_ENUMERATED = "the longest and shortest path through the machine code, with the facts in its labels"
_FOLLOWED = "following the machine code along every branch and into every call"


def certify_program(elf: Path, settings: Settings) -> Certificate:
    """Return the certificate of any linked program that has the settings' entry.

    Raises `InputError` if it is no linked program for the AVR, or has no such function; and
    `CheckFailed` if a claim is false.
    """
    program = read_program(elf)
    made = tuple(program_claims(program, settings.entry))
    hashes = {claims.FIRMWARE: image_sha256(program)}
    return Certificate(subject_of("program", program), settings, hashes, made)


def subject_of(kind: str, program: LinkedProgram) -> dict[str, str]:
    """Return what a certificate says about the program that was certified."""
    return {"kind": kind, "core": program.core.name, "compilers": "; ".join(program.compilers)}


def image_sha256(program: LinkedProgram) -> str:
    """Return the hash of what is written to the flash."""
    return hashlib.sha256(program.code).hexdigest()


def program_claims(program: LinkedProgram, entry: str) -> Iterator[Claim]:
    """Yield what follows from a linked program: its memory, and how `entry` behaves."""
    sections = program.sections
    flash, sram = sections.flash_bytes, sections.sram_bytes
    yield Claim("flash", f"the program takes {flash:,} B of flash", claims.PROVEN, _READ, flash)
    yield Claim("sram", f"its variables take {sram:,} B of SRAM", claims.PROVEN, _READ, sram)
    yield _whole_stack(program)
    yield from _reached(program, entry)
    yield _stack(program, entry)
    yield from _cycles(program, entry)


def _whole_stack(program: LinkedProgram) -> Claim:
    try:
        report = worst_case_stack(program, sorted(program.path.parent.rglob("*.su")))
    except CheckFailed as failure:
        return Claim("stack", "the stack of the whole program", claims.NOT_CHECKED, str(failure))
    sentence = f"the stack never takes more than {report.bytes:,} B, interrupts included"
    return Claim("stack", sentence, claims.PROVEN, _FOLLOWED, report.bytes)


def _stack(program: LinkedProgram, entry: str) -> Claim:
    try:
        size = stack_of(program, entry)
    except CheckFailed as failure:
        return Claim("stack-entry", f"the stack of {entry}", claims.NOT_CHECKED, str(failure))
    sentence = f"{entry} takes at most {size:,} B of the stack, without interrupts"
    return Claim("stack-entry", sentence, claims.PROVEN, _FOLLOWED, size)


def _cycles(program: LinkedProgram, entry: str) -> Iterator[Claim]:
    try:
        paths = paths_through(program, entry)
    except CheckFailed as failure:
        yield Claim("cycles-most", f"the cycles of {entry}", claims.NOT_CHECKED, str(failure))
        return
    for name, how, path in (
        ("cycles-most", "at most", paths.longest),
        ("cycles-least", "at least", paths.shortest),
    ):
        sentence = f"{entry} takes {how} {path.cycles:,} cycles, without interrupts"
        yield Claim(name, sentence, claims.PROVEN, _ENUMERATED, path.cycles)


def _reached(program: LinkedProgram, entry: str) -> Iterator[Claim]:
    """Yield what no function that is reached from `entry` does."""
    reached = _names_reached(program, entry)
    yield Claim(
        "no-recursion",
        f"nothing that {entry} calls calls itself, or is called through a pointer",
        claims.PROVEN,
        _FOLLOWED,
    )
    for name, what, found in (
        ("no-allocation", "allocates memory", sorted(filter(_ALLOCATION.fullmatch, reached))),
        ("no-floats", "computes in floats", sorted(reached & set(float_routines(program)))),
    ):
        if found:
            raise CheckFailed(f"{entry} {what}: it calls {', '.join(found[:3])}")
        yield Claim(name, f"nothing that {entry} calls {what}", claims.PROVEN, _FOLLOWED)


def _names_reached(program: LinkedProgram, entry: str) -> set[str]:
    """Return the names of the functions that can run below `entry`.

    Raises `CheckFailed` if one of them is called through a pointer or calls itself.
    """
    copies = program.names.copies_of(entry)
    if not copies:
        raise InputError(
            f"{program.path} has no function {entry}; name another --entry, and link with symbols"
        )
    done: set[int] = set()

    def visit(address: int, callers: tuple[int, ...]) -> None:
        if address in callers:
            raise CheckFailed(f"{program.names.name_of(address)} calls itself; write it as a loop")
        if address not in done:
            for called in function_at(program, address).calls:
                visit(called, (*callers, address))
            done.add(address)

    for copy in copies:
        visit(copy, ())
    return set(map(program.names.name_of, done))
