"""The firmware with a model written by hand, compiled by avr-gcc and run on the emulated Uno.

`build` and `start` are fixtures: a test's folder imports them in its conftest.py.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from avr_tools import EMULATED_AVR, skip_without
from checkout import CHECKOUT

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.device import protocol

FIRMWARE = CHECKOUT / "firmware"
FAKE_MODEL = Path(__file__).parent / "chips" / "firmware" / "fake_model"
CFLAGS = [
    *("-mmcu=atmega328p", "-DF_CPU=16000000L", "-std=gnu99", "-O2"),
    *("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fstack-usage"),
    *("-ffunction-sections", "-fdata-sections"),
]
DEADLINE_S = 60.0

Build = Callable[..., Path]


def copy_firmware(folder: Path, *, with_model: bool = True) -> Path:
    """Copy the hand-written sources, with the fake model in place of a generated one."""
    sources = folder / "firmware"
    shutil.copytree(FIRMWARE, sources, ignore=shutil.ignore_patterns("generated", "host", "rp2040"))
    if with_model:
        shutil.copytree(FAKE_MODEL, sources / "generated")
    return sources


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return a function that compiles the firmware with macros for the fake model; it remembers."""
    skip_without(*EMULATED_AVR, "avr-nm")
    built: dict[tuple[tuple[str, object], ...], Path] = {}

    def build_with(**macros: object) -> Path:
        key = tuple(sorted(macros.items()))
        if key not in built:
            folder = tmp_path_factory.mktemp("build")
            sources = sorted(copy_firmware(folder).rglob("*.c"))
            defines = [f"-D{name}={value}" for name, value in macros.items()]
            objects = []
            for source in sources:
                objects.append(folder / f"{source.stem}.o")
                command = ["avr-gcc", *CFLAGS, *defines, "-c", source, "-o", objects[-1]]
                subprocess.run(command, check=True, timeout=60)
            elf = folder / "firmware.elf"
            link = ["avr-gcc", "-mmcu=atmega328p", "-Wl,--gc-sections", *objects, "-o", elf]
            subprocess.run(link, check=True, timeout=60)
            built[key] = elf
        return built[key]

    return build_with


class Line:
    """A raw connection to the device: bytes out, frames in, each wait with a deadline."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S)
        self._splitter = protocol.FrameSplitter(2000)
        self._frames: list[bytes] = []

    def close(self) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> tuple[int, protocol.Message]:
        """Return the next message with its sequence number."""
        end = time.monotonic() + DEADLINE_S
        while not self._frames:
            assert time.monotonic() < end, "no frame arrived"
            self._frames += self._splitter.feed(self._socket.recv(4096))
        body = protocol.decode_frame(self._frames.pop(0))
        return body[1], protocol.decode_message(body)

    def ask_until_answered(self, request: protocol.Message) -> protocol.Message:
        """Send a request to a device that may still be losing bytes, again and again."""
        for sequence in range(100):
            self.send(b"\x00" + protocol.encode_message(request, sequence))
            self._socket.settimeout(0.1)
            with contextlib.suppress(TimeoutError):
                return self.receive()[1]
        raise AssertionError("the device did not recover")

    def ask(self, request: protocol.Message, sequence: int = 1) -> protocol.Message:
        """Send a request and return the reply, whose sequence number must be the same."""
        self.send(protocol.encode_message(request, sequence))
        answered, content = self.receive()
        assert answered == sequence
        return content


@pytest.fixture
def start(build: Build) -> Iterator[Callable[..., tuple[EmulatedUno, Line]]]:
    """Return a function that runs the firmware with macros and connects to it."""
    running: list[EmulatedUno] = []
    lines: list[Line] = []

    def start_with(**macros: object) -> tuple[EmulatedUno, Line]:
        uno = EmulatedUno(build(**macros))
        uno.__enter__()
        running.append(uno)
        lines.append(Line(uno.port))
        return uno, lines[-1]

    yield start_with
    for line in lines:
        line.close()
    for uno in running:
        uno.__exit__(None, None, None)
