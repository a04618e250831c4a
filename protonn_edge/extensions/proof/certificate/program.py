"""Claims about a linked program that follow from its machine code, for any compiler."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.families.family import MachineCode
from protonn_edge.extensions.proof.certificate import claims
from protonn_edge.extensions.proof.certificate.claims import Certificate, Claim, Settings
from protonn_edge.system.errors import CheckFailed, InvalidValue

if TYPE_CHECKING:
    from protonn_edge.chips.avr.paths import Paths

_ALLOCATION = re.compile(r"malloc|calloc|realloc|free|_Zn[wa]\w*|_Zd[la]\w*|alloca")
_READ = "the sections of the ELF file"
_FOLLOWED = "following the machine code along every branch and into every call"


def certify_program(
    elf: Path,
    board: Board,
    settings: Settings,
    more: Callable[[LinkedProgram], Iterable[Claim]] = lambda _: (),
) -> Certificate:
    """Return the certificate of any linked program that has the settings' entry.

    `more` returns further claims about the program. Raises `InputError` if it is not for the
    board's chip, and `CheckFailed` if a claim is false.
    """
    family = family_of(board)
    program: Any = family.read(elf)
    if board.core != program.core.name:
        raise InvalidValue(
            elf,
            f"compiled for {program.core.chip}, not for the chip of {board.name}",
            "name the board with --board",
        )
    made = (*program_claims(program, family.follow(program), settings.entry), *more(program))
    hashes = {claims.FIRMWARE: image_sha256(program)}
    return Certificate(subject_of("program", program), settings, hashes, made)


def subject_of(kind: str, program: LinkedProgram) -> dict[str, str]:
    """Return a certificate's description of the certified program."""
    return {"kind": kind, "core": program.core.name, "compilers": "; ".join(program.compilers)}


def image_sha256(program: LinkedProgram) -> str:
    """Return the hash of the bytes that go into flash."""
    return hashlib.sha256(program.code).hexdigest()


def program_claims(
    program: LinkedProgram,
    code: MachineCode,
    entry: str,
    *,
    own_sources: bool = False,
    whole_program: bool = True,
    prediction: Callable[[], Paths] | None = None,
) -> Iterator[Claim]:
    """Yield the claims about a linked program: its memory, and the behaviour of `entry`.

    With `own_sources` it was just linked from generated code. Otherwise a claim states what it
    assumes besides the machine code: labels, and tables of jumps. The cycles are counted for
    `entry`, or for a `prediction` that consists of several calls. Without `whole_program`, claims
    are only about `entry`.
    """
    if whole_program:
        yield from _memory(program, code, own_sources)
    yield from _behaviour(program, code, entry, own_sources)
    what = entry if prediction is None else "a prediction"
    paths = prediction or partial(code.paths, entry)
    given = [] if own_sources or not program.marks else ["the labels in the source are correct"]
    if prediction is None and program.marks and entry not in code.predictions():
        given.append(f"each call of {entry} works on a single prediction (counting abandoned ones)")
    yield from _cycles(what, paths, given, own_sources=own_sources)


def _memory(program: LinkedProgram, code: MachineCode, own_sources: bool) -> Iterator[Claim]:
    """Yield claims about the memory of the whole program."""
    sections = program.sections
    flash, sram = sections.flash_bytes, sections.sram_bytes
    yield Claim("flash", f"the program takes {flash:,} B of flash", claims.PROVEN, _READ, flash)
    yield Claim(
        "sram", f"the program's variables take {sram:,} B of SRAM", claims.PROVEN, _READ, sram
    )
    yield _whole_stack(program, code, own_sources)


def _whole_stack(program: LinkedProgram, code: MachineCode, own_sources: bool) -> Claim:
    try:
        most = code.stack()
        all_code = _Reached.of(program, code, [0, *code.handlers().values()])
    except CheckFailed as failure:
        sentence = "the stack of the whole program has a bound"
        return Claim("stack", sentence, claims.NOT_CHECKED, str(failure))
    given = "" if own_sources else all_code.given
    sentence = f"the stack never takes more than {most:,} B, interrupts included{given}"
    return Claim("stack", sentence, claims.PROVEN, _FOLLOWED, most)


def _cycles(
    what: str, find: Callable[[], Paths], given: list[str], *, own_sources: bool
) -> Iterator[Claim]:
    try:
        paths = find()
    except CheckFailed as failure:
        sentence = f"the cycles of {what} have a bound"
        yield Claim("cycles-most", sentence, claims.NOT_CHECKED, str(failure))
        return
    conditions = _listed([*given, *(() if own_sources else paths.given)])
    for name, how, which, path in (
        ("cycles-most", "at most", "longest", paths.longest),
        ("cycles-least", "at least", "shortest", paths.shortest),
    ):
        sentence = f"{what} takes {how} {path.cycles:,} cycles, not counting interrupts{conditions}"
        method = f"the {which} path through the machine code; labels in the source limit its loops"
        yield Claim(name, sentence, claims.PROVEN, method, path.cycles)


def _listed(conditions: Sequence[str]) -> str:
    """Return conditions as the end of a sentence."""
    *first, last = conditions or [""]
    if not first:
        return f", if {last}" if last else ""
    return f", if {', '.join(first)} and {last}"


def _behaviour(
    program: LinkedProgram, code: MachineCode, entry: str, own_sources: bool
) -> Iterator[Claim]:
    """Yield claims about things that no function reached from `entry` does."""
    reached = _Reached.of(program, code, code.entries(entry))
    given = "" if own_sources else reached.given
    for name, what, routines in (
        ("no-recursion", "is recursive or called through a pointer", set()),
        ("no-allocation", "allocates memory", set(filter(_ALLOCATION.fullmatch, reached.names))),
        ("no-floats", "uses floating point", reached.names & set(code.floats())),
    ):
        if routines:
            called = ", ".join(sorted(routines)[:3])
            raise CheckFailed(f"{entry} {what}: it calls {called}; remove the code that needs this")
        sentence = f"no function called by {entry} {what}{given}"
        yield Claim(name, sentence, claims.PROVEN, _FOLLOWED)
    try:
        size = code.stack(entry)
    except CheckFailed as failure:
        sentence = f"the stack of {entry} has a bound"
        yield Claim("stack-entry", sentence, claims.NOT_CHECKED, str(failure))
    else:
        sentence = f"{entry} takes at most {size:,} B of stack, not counting interrupts{given}"
        yield Claim("stack-entry", sentence, claims.PROVEN, _FOLLOWED, size)


class _Reached(NamedTuple):
    """What can run below some functions."""

    names: set[str]  # of all code, without suffixes of the compiler
    given: str  # the assumption about the tables of its jumps, as a part of a sentence

    @classmethod
    def of(cls, program: LinkedProgram, code: MachineCode, entries: Collection[int]) -> _Reached:
        """Follow all calls; raises `CheckFailed` if one is recursive or through a pointer."""
        functions = code.functions(entries)
        try:
            TopologicalSorter({at: each.calls for at, each in functions.items()}).prepare()
        except CycleError as error:
            name = program.names.name_of(error.args[1][0])
            raise CheckFailed(f"{name} calls itself; write it as a loop") from error
        places = frozenset[int]().union(*(each.addresses for each in functions.values()))
        names = {each.name.partition(".")[0] for each in program.symbols if each.address in places}
        tables = any(each.switches for each in functions.values())
        given = ", if each jump table leads only into its own function"
        return cls(names, given if tables else "")
