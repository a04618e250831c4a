"""The maximum depth of the stack of linked firmware.

The analysis follows the machine code, from the reset vector and from every interrupt vector, along
every branch and into every call. It tracks how each register depends on the stack pointer, so it
knows how many bytes lie on the stack at each instruction, also in library functions and assembler.
The worst case is therefore

    depth at a call + return address + worst case of the callee

over all calls, plus the worst interrupt handler (a return address and its own worst case) on top
of the deepest point: handlers do not interrupt one another unless they enable it. A return address
has 2 bytes, or 3 on chips with more than 128 kB of flash.

The result is compared with the compiler's own figures, the .su files of ``-fstack-usage``. There
avr-gcc counts the return address, saved registers, local variables, and arguments pushed for calls;
so an empty function has 2, or 3. If a .su file states more, the larger number counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from protonn_edge.chips.avr.bounded import NoBound
from protonn_edge.chips.avr.functions import (
    Depth,
    Function,
    function_at,
    functions_from,
    interrupt_handlers,
)
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.state import ON, RETI
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.files import read_file

_MOST_NESTED = 200
_LARGEST_SU_FILE = 16 << 20


@dataclass(frozen=True)
class StackReport:
    """The worst case of the stack."""

    bytes: int  # bytes of SRAM, from the top, that the stack can take
    # the functions on the deepest path from main, then the interrupt handler's on top
    path: tuple[str, ...]


def worst_case_stack(program: LinkedProgram, su_files: Iterable[Path] = ()) -> StackReport:
    """Return the maximum stack of firmware.

    The .su files come from ``-fstack-usage``. Raises `InputError` if a file cannot be read or is
    broken, and `CheckFailed` if no bound can be proven because of recursion, a call through a
    pointer, an array of variable size, or an interrupt handler that allows others; the message
    names the function.
    """
    if program.names.address_of("__vectors") != 0:
        raise InvalidValue(
            program.path,
            "no symbol for its interrupt vectors",
            "link it with the start-up code of avr-libc, and do not strip it",
        )
    firmware = _Firmware(program, _read_stack_usage(su_files))
    from_reset = firmware.worst_case(0)
    entries = set(interrupt_handlers(program).values())
    functions_from(program, [0, *entries])  # refuses what they do with their arguments
    handlers = [firmware.worst_case(entry, handler=True) for entry in entries]
    path = from_reset.path[1:] or from_reset.path  # without the start-up code
    if not handlers:
        return StackReport(from_reset.bytes, path)
    handler = max(handlers, key=lambda report: report.bytes)
    return StackReport(
        from_reset.bytes + program.core.return_bytes + handler.bytes,
        (*path, f"interrupt {handler.path[0]}", *handler.path[1:]),
    )


def stack_of(program: LinkedProgram, function: str) -> int:
    """Return the bytes of stack that a call of a function takes, with all its callees.

    This includes its return address, but not interrupts. Raises as `worst_case_stack` does.
    """
    firmware, copies = _Firmware(program, {}), program.names.copies_of(function)
    functions_from(program, copies)
    deepest = (firmware.worst_case(copy).bytes for copy in copies)
    return program.core.return_bytes + max(deepest)


class _StackUsage(NamedTuple):
    """One function in a .su file."""

    bytes: int
    kind: str


def _read_stack_usage(files: Iterable[Path]) -> dict[str, _StackUsage]:
    """Return the stack usage by function; of two functions with one name the larger."""
    usage: dict[str, _StackUsage] = {}
    for path in files:
        contents = read_file(path, limit_bytes=_LARGEST_SU_FILE, may_be_empty=True)
        try:
            for line in contents.decode().splitlines():
                where, size, kind = line.split("\t")
                frame = _StackUsage(int(size), kind)
                name = where.rpartition(":")[2]
                usage[name] = max(usage.get(name, frame), frame)
        except ValueError as error:
            raise InvalidValue(
                path, "not a .su file from gcc", "build the firmware again"
            ) from error
    return usage


class _Firmware:
    """The functions of a program and their worst cases, each worked out once."""

    def __init__(self, program: LinkedProgram, usage: Mapping[str, _StackUsage]) -> None:
        self._program = program
        self._usage = usage
        self._worst: dict[tuple[int, bool], StackReport] = {}

    def worst_case(
        self, entry: int, callers: tuple[int, ...] = (), *, handler: bool = False
    ) -> StackReport:
        """Return the worst case below the return address of the function at `entry`."""
        function = _corrected(self._program, entry, self._usage)
        enabling = ON | RETI if callers else ON  # the handler itself ends with a ``reti``
        enables = [address for address, flag in function.flags.items() if flag & enabling]
        if handler and enables:
            raise NoBound(
                "stack",
                function.name,
                "enables or may enable interrupts inside an interrupt handler at "
                f"0x{min(enables):x}",
                "remove its sei(), ISR_NOBLOCK or reti, or write to SREG only a value "
                "that was read from SREG",
            )
        if entry in callers:
            cycle = [*callers[callers.index(entry) :], entry]
            raise NoBound(
                "stack",
                function.name,
                f"calls itself ({' -> '.join(map(self._program.names.name_of, cycle))})",
                "write it as a loop",
            )
        if len(callers) > _MOST_NESTED:
            raise NoBound(
                "stack",
                function.name,
                f"is reached through more than {_MOST_NESTED} nested calls",
                "nest the calls less deeply",
            )
        if (entry, handler) not in self._worst:
            self._worst[entry, handler] = self._deepest(function, (*callers, entry), handler)
        return self._worst[entry, handler]

    def _deepest(self, function: Function, callers: tuple[int, ...], handler: bool) -> StackReport:
        """Return the deepest of a function's own peak and its calls."""
        deepest = StackReport(function.peak.bytes, _path(function, function.peak))
        for target, place in sorted(function.calls.items()):
            called = self.worst_case(target, callers, handler=handler)
            size = place.bytes + self._program.core.return_bytes + called.bytes
            if size > deepest.bytes:
                deepest = StackReport(size, (*_path(function, place), *called.path))
        return deepest


def _corrected(program: LinkedProgram, entry: int, usage: Mapping[str, _StackUsage]) -> Function:
    """Return the function at `entry`, with the compiler's stack usage if that is larger."""
    function = function_at(program, entry)
    # A clone of a function, like f.constprop.0, is in the .su file under its first name.
    account = usage.get(function.name) or usage.get(function.name.partition(".")[0])
    if account is None:
        return function
    if account.kind == "dynamic":
        raise NoBound(
            "stack",
            function.name,
            "reserves a number of bytes that is known only at run time",
            "give its arrays fixed sizes",
        )
    lacking = max(0, account.bytes - program.core.return_bytes - function.peak.bytes)
    return dataclasses.replace(
        function,
        peak=Depth(function.peak.bytes + lacking, function.peak.within),
        calls={
            target: Depth(place.bytes + lacking, place.within)
            for target, place in function.calls.items()
        },
    )


def _path(function: Function, place: Depth) -> tuple[str, ...]:
    """Return the names on the way to a place: two, if the function jumped into another one."""
    return tuple(dict.fromkeys((function.name, place.within)))
