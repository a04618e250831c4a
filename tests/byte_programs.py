"""Programs in C around a generated model that take bytes and answer with bytes.

They include ``byte_stream.h``: on the host they read standard input, on an AVR the serial line.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path

from generated_programs import write_c

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.process import build_host_executable
from protonn_edge.codegen.plan import Plan
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.files import resource

_DEADLINE_S = 60.0


def host_program(model: IntegerChain, main: Path, folder: Path, plan: Plan | None = None) -> Path:
    """Compile a program with a model for this computer, under sanitizers."""
    write_c(model, folder, plan)
    sources = [main, folder / "pnn_model.c"]
    return build_host_executable(sources, folder, folder / "program", sanitize=True)


def answered_by(program: Path, sent: bytes) -> bytes:
    """Return the answers of a program of this computer."""
    done = subprocess.run(
        [program], input=sent, capture_output=True, check=True, timeout=_DEADLINE_S
    )
    return done.stdout


def uno_program(model: IntegerChain, main: Path, folder: Path, *flags: str) -> Path:
    """Compile a program with a model for the Uno; no warning is let through."""
    write_c(model, folder)
    firmware, elf = resource("firmware"), folder / "program.elf"
    sources = [main, folder / "pnn_model.c", firmware / "uart.c", firmware / "cycle_counter.c"]
    command = ["avr-gcc", "-mmcu=atmega328p", "-DF_CPU=16000000L", "-std=gnu99", "-O2", "-Wall"]
    command += ["-Wextra", "-Werror", f"-I{folder}", f"-I{firmware}", "-o", str(elf)]
    subprocess.run([*command, *flags, *sources, "-lm"], check=True, timeout=_DEADLINE_S)
    return elf


def answered_by_uno(
    elf: Path, requests: Iterable[bytes], answer_bytes: int, request_bytes: int = 0
) -> bytes:
    """Return the answers of the emulated Uno; each of them is awaited before the next request.

    A request may be several ones of some bytes each, with as many answers.
    """
    received = b""
    with EmulatedUno(elf) as uno:
        with socket.create_connection(("127.0.0.1", uno.port), timeout=20.0) as line:
            for request in requests:
                line.sendall(request)
                count = len(request) // request_bytes if request_bytes else 1
                received += answer_on(line, count * answer_bytes)
        assert uno.stats().faults == ()
    return received


def answer_on(line: socket.socket, size: int) -> bytes:
    """Return the next bytes of a connection with a board."""
    received = b""
    while len(received) < size:
        part = line.recv(size - len(received))
        assert part, "the board closed the line"
        received += part
    return received
