"""Hostile programs for the emulated board: whatever is run, the emulator answers, or refuses it.

`run_case` makes one firmware file from a seed (instructions without a plan, writes to every
register, damaged HEX and ELF files) and one client that sends bytes without sense. The emulator is
compiled with sanitizers, once in the user's cache.
"""

from __future__ import annotations

import functools
import os
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from avr_tools import EMULATED_AVR, skip_without

from protonn_edge.chips.boards import Board, boards
from protonn_edge.chips.emulator import EmulatedBoard, programs
from protonn_edge.system.errors import ProtoNNEdgeError

_SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_RUNS_S = 0.15  # of each firmware; an opcode takes some 20 ns
_EXIT_S = 5.0
_MOST_SETTINGS = 64

# Instructions, and which of their bits are operands.
_INSTRUCTIONS = np.array(
    [
        (0x0000, 0xFFFF),  # any
        (0x9508, 0x0000),  # ret
        (0x9518, 0x0000),  # reti
        (0x9588, 0x0000),  # sleep
        (0x95A8, 0x0000),  # wdr
        (0x95C8, 0x0000),  # lpm
        (0x95D8, 0x0000),  # elpm
        (0x95E8, 0x0010),  # spm
        (0x9409, 0x0110),  # ijmp eijmp icall eicall
        (0x9409, 0x0110),  # the same
        (0x940C, 0x01F1),  # jmp
        (0x940E, 0x01F1),  # call
        (0x9408, 0x00F0),  # set and clear flags
        (0x9408, 0x00F0),  # the same
        (0x9004, 0x01F3),  # lpm elpm with Rd
        (0x9200, 0x01FF),  # push sts
        (0x9000, 0x01FF),  # pop lds
        (0x8000, 0x2FFF),  # ldd std
        (0xB000, 0x0FFF),  # in out
        (0xB800, 0x07FF),  # out
        (0xC000, 0x1FFF),  # rjmp rcall
        (0xF000, 0x07FF),  # branches
        (0xFC00, 0x03F7),  # sbrc sbrs
        (0x1000, 0x03FF),  # cpse
        (0x9600, 0x01FF),  # adiw sbiw
        (0xE000, 0x0FFF),  # ldi
        (0x9800, 0x07FF),  # cbi sbic
        (0x9598, 0x0000),  # break
    ]
)


def run_case(seed: int, folder: Path) -> None:
    """Run one hostile firmware, made from a seed, in `folder`.

    Raises
    ------
    AssertionError
        If the emulator crashes or hangs, a sanitizer reports, or Python raises anything but the
        package's own errors; one line.
    """
    skip_without(*EMULATED_AVR)
    rng = np.random.default_rng(seed)
    board = _any_board(rng)
    firmware = _firmware(rng, folder, board)
    try:
        emulated = EmulatedBoard(firmware, board=board, wire_speed=bool(rng.random() < 0.1))
    except ProtoNNEdgeError:
        return  # refused with a sentence
    except Exception as error:
        raise AssertionError(f"reading the firmware raised {error!r}"[:300]) from error
    emulated.program = replace(emulated.program, command=(str(_sanitized_emulator()),))
    try:
        _exercise(rng, emulated)
    except ProtoNNEdgeError as error:
        raise AssertionError(_one_line(f"{board.name}: {error}")) from error


def _exercise(rng: np.random.Generator, emulated: EmulatedBoard) -> None:
    """Talk to a board, reset it, ask for its figures, and see it end well."""
    # simavr keeps its memory to the end, which is no leak that matters.
    with patch.dict(os.environ, ASAN_OPTIONS="detect_leaks=0"), emulated:
        process = emulated._process
        assert process is not None
        end = time.monotonic() + _RUNS_S
        with _connected(emulated) as line:
            while time.monotonic() < end:
                _send_nonsense(rng, line)
                emulated.stats()
                if rng.random() < 0.1:
                    emulated.reset()
        emulated.stats()
    code = process.wait(_EXIT_S)
    assert code == 0, f"the emulator ended with code {code}"


def _connected(emulated: EmulatedBoard) -> socket.socket:
    try:
        line = socket.create_connection(("127.0.0.1", emulated.port), timeout=10)
    except OSError:
        emulated.stats()  # says how it ended, if it has
        raise
    line.setblocking(False)
    return line


def _send_nonsense(rng: np.random.Generator, line: socket.socket) -> None:
    try:
        line.send(rng.bytes(int(rng.integers(1, 200))))
        line.recv(4096)
    except BlockingIOError:
        time.sleep(0.005)
    except ConnectionError:  # who does not read is hung up on
        time.sleep(0.02)


def _any_board(rng: np.random.Generator) -> Board:
    chips = boards()
    return chips[int(rng.integers(len(chips)))]


def _firmware(rng: np.random.Generator, folder: Path, board: Board) -> Path:
    """Write a firmware file: mostly one that can be run, else one that is damaged."""
    words = _program(rng, board)
    kind = rng.choice(["hex", "damaged", "elf"], p=[0.8, 0.1, 0.1])
    path = folder / ("firmware.elf" if kind == "elf" else "firmware.hex")
    if kind == "elf":
        path.write_bytes(_damaged(rng, _elf(words)))
        return path
    content = _hex(rng, words)
    path.write_bytes(_damaged(rng, content) if kind == "damaged" else content)
    return path


def _program(rng: np.random.Generator, board: Board) -> np.ndarray[Any, np.dtype[np.uint16]]:
    """Return instructions: some set registers up, then any come, up to the end of the flash."""
    begin: list[int] = []
    for _ in range(int(rng.integers(0, _MOST_SETTINGS))):
        register, value = int(rng.integers(0x20, 0x140)), int(rng.integers(256))
        if rng.random() < 0.2:
            register = int(rng.choice([0x5D, 0x5E, 0x5B, 0x5C, 0x5F]))  # SP, RAMPZ, EIND, SREG
        begin += [0xE000 | (value & 0xF0) << 4 | (value & 0x0F), 0x9300, register]  # ldi, sts
    count = int(rng.integers(1, 400)) if rng.random() < 0.7 else board.flash_total_bytes // 2
    chosen = _INSTRUCTIONS[rng.integers(len(_INSTRUCTIONS), size=count)]
    soup = chosen[:, 0] | (chosen[:, 1] & rng.integers(0x10000, size=count))
    words = np.concatenate([begin, soup]).astype(np.uint16)
    return words[: board.flash_total_bytes // 2]


def _hex(rng: np.random.Generator, words: np.ndarray[Any, np.dtype[np.uint16]]) -> bytes:
    """Return an Intel HEX file, in rare cases one that begins elsewhere in the flash."""
    content = words.astype("<u2").tobytes()
    start = 2 * int(rng.integers(0, 0x4000)) if rng.random() < 0.1 else 0
    lines, base = [], -1
    for offset in range(0, len(content), 16):
        address = start + offset
        if address >> 16 != base:
            base = address >> 16
            lines.append(_record(0, 4, base.to_bytes(2, "big")))
        lines.append(_record(address & 0xFFFF, 0, content[offset : offset + 16]))
    return b"\n".join([*lines, _record(0, 1, b""), b""])


def _record(address: int, kind: int, data: bytes) -> bytes:
    record = bytes([len(data)]) + address.to_bytes(2, "big") + bytes([kind]) + data
    return b":" + (record + bytes([-sum(record) & 0xFF])).hex().upper().encode()


def _elf(words: np.ndarray[Any, np.dtype[np.uint16]]) -> bytes:
    """Return an ELF file for the AVR with one segment and no sections."""
    content = words.astype("<u2").tobytes()
    header = b"\x7fELF\x01\x01\x01" + bytes(9)
    fields = [(2, 2), (83, 2), (1, 4), (0, 4), (52, 4), (0, 4), (5, 4)]
    fields += [(52, 2), (32, 2), (1, 2), (40, 2), (0, 2), (0, 2)]
    segment = [
        (1, 4),
        (84, 4),
        (0, 4),
        (0, 4),
        (len(content), 4),
        (len(content), 4),
        (5, 4),
        (2, 4),
    ]
    return header + b"".join(n.to_bytes(size, "little") for n, size in fields + segment) + content


def _damaged(rng: np.random.Generator, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(0, 6))):
        changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    cut = int(rng.integers(1, len(changed) + 1)) if rng.random() < 0.3 else len(changed)
    return bytes(changed[:cut])


@functools.cache
def _sanitized_emulator() -> Path:
    return programs.build_simavr(*_SANITIZERS)


def _one_line(text: str) -> str:
    """Return what a sanitizer says in a line: its summary, if it is there."""
    lines = [line for line in text.splitlines() if "ERROR" in line or "runtime error" in line]
    return " ".join((lines or text.splitlines())[0].split())[:300]
