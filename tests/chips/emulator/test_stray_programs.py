"""A program that leaves what the chip has ends in a fault, and the emulator goes on.

simavr reads, or ends the whole process, where such a program leads it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from avr_tools import needs_emulated_avr
from laws.fuzz.emulator import _record, _sanitized_emulator, run_case

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard, EmulatorStats, programs

pytestmark = needs_emulated_avr
DEADLINE_S = 90.0

_LDI_R31_FF, _MOV_R0_R31, _LOOP, _SEI = 0xEFFF, 0x2E0F, 0xCFFF, 0x9478
_NOP, _JMP = 0x0000, 0x940C


def sts(address: int, value: int) -> list[int]:
    """Return the instructions that store a value: ldi r16, sts."""
    return [0xE000 | (value & 0xF0) << 4 | (value & 0x0F), 0x9300, address]


@pytest.fixture(params=["plain", "sanitized"])
def executable(request: pytest.FixtureRequest) -> Path:
    """Return the emulator, as users have it and with sanitizers."""
    return programs.build_simavr() if request.param == "plain" else _sanitized_emulator()


def run_words(words: list[int], path: Path, executable: Path, board: str) -> EmulatorStats:
    """Run instructions as a HEX file until there is a fault, or for a moment."""
    content = b"".join(word.to_bytes(2, "little") for word in words)
    records = [
        _record(place, 0, content[place : place + 16]) for place in range(0, len(content), 16)
    ]
    path.write_bytes(b"\n".join([*records, _record(0, 1, b""), b""]))
    emulated = EmulatedBoard(path, board=load_board(board))
    emulated.program = replace(emulated.program, command=(str(executable),))
    end = time.monotonic() + DEADLINE_S
    with emulated:
        while not (stats := emulated.stats()).faults and time.monotonic() < end:
            if stats.cycles > 1_000_000:
                break
            time.sleep(0.01)
        emulated.reset()
        return emulated.stats()


@pytest.mark.parametrize("elpm", [0x95D8, 0x9006, 0x9007, 0x91F6], ids=hex)
def test_an_elpm_without_rampz_is_an_illegal_opcode(
    tmp_path: Path, executable: Path, elpm: int
) -> None:
    program = [_LDI_R31_FF, _MOV_R0_R31, elpm, _LOOP]
    stats = run_words(program, tmp_path / "a.hex", executable, "uno")
    assert stats.faults[0] == f"pc 0x0004: illegal opcode 0x{elpm:04x}"


def test_an_elpm_with_rampz_reads(tmp_path: Path, executable: Path) -> None:
    program = [*sts(0x5B, 0xFF), _LDI_R31_FF, 0xEFEF, 0x9007, _LOOP]  # RAMPZ:Z = 0xFFFFFF
    stats = run_words(program, tmp_path / "a.hex", executable, "mega2560")
    assert (stats.faults, stats.state) == ((), "running")


def test_an_interrupt_after_a_stray_jump_reads_nothing(tmp_path: Path, executable: Path) -> None:
    """The interrupt pushes the program counter; where SP is no RAM, simavr logs what is there."""
    overflow = [*sts(0x6E, 1), *sts(0x45, 1)]  # timer 0, each 256 cycles
    no_stack = [*sts(0x5E, 0xFF), *sts(0x5D, 0xF0)]
    jump = [_JMP | 0x01F1, 0xFFFF]  # to 0x7ffffe
    # The overflow waits for interrupts; they are allowed two instructions after SEI: at the jump.
    program = [*overflow, *[_NOP] * 300, *no_stack, _SEI, _NOP, *jump]
    stats = run_words(program, tmp_path / "a.hex", executable, "uno")
    assert stats.faults[0].endswith(": jumps to 0x7ffffe, outside of the flash")


def test_a_usb_endpoint_that_is_not_there_ends_nothing(tmp_path: Path, executable: Path) -> None:
    program = [*sts(0xE9, 0xFF), *sts(0xEB, 0xFF), *sts(0xF1, 1), _LOOP]  # UENUM, UECONX, UEDATX
    stats = run_words(program, tmp_path / "a.hex", executable, "leonardo")
    assert (stats.faults, stats.state) == ((), "running")


@pytest.mark.parametrize("seed", [56, 119, 203])
def test_cases_that_the_fuzzer_found(tmp_path: Path, seed: int) -> None:
    run_case(seed, tmp_path)
