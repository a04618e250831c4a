"""Small firmwares in C, compiled on the spot, for the emulated Uno to run."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from avr_programs import compile_text
from avr_tools import EMULATED_AVR, skip_without

from protonn_edge.chips.emulator import EmulatedUno

Compile = Callable[..., Path]

PRELUDE = """
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <stdint.h>

#ifndef UBRR
#define UBRR 16  /* 117,647 baud: as near to 115,200 as 16 MHz gets */
#endif

static inline void uart_begin(void) {
    UBRR0H = 0;
    UBRR0L = UBRR;
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
}

static inline uint8_t uart_read(void) {
    while (!(UCSR0A & 1 << RXC0)) {
    }
    return UDR0;
}

static inline void uart_write(uint8_t byte) {
    while (!(UCSR0A & 1 << UDRE0)) {
    }
    UDR0 = byte;
}

static inline void uart_write16(uint16_t word) {
    uart_write(word >> 8);
    uart_write(word & 0xFF);
}

static inline void idle_for_ever(void) {
    set_sleep_mode(SLEEP_MODE_IDLE);
    sei();
    for (;;) {
        sleep_mode();
    }
}
"""


# Says why it was reset, and echoes; each byte is a marked span.
GREETS = """
int main(void) {
    uint8_t cause = MCUSR;
    MCUSR = 0;
    uart_begin();
    uart_write('0' + cause);
    for (;;) {
        uint8_t byte = uart_read();
        GPIOR0 = byte;
        GPIOR0 = 0;
        uart_write(byte);
    }
}
"""
EXTERNAL_RESET = b"2"
DEADLINE_S = 90.0


def hex_file(elf: Path, *options: str) -> Path:
    """Return a firmware as Intel HEX, which does not name its chip."""
    image = elf.with_suffix(".hex")
    command = ["avr-objcopy", "-O", "ihex", *options, elf, image]
    subprocess.run(command, check=True, timeout=60)
    return image


def eventually(condition: Callable[[], object]) -> bool:
    """Return whether a condition holds in time."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Build the emulator from the sources of this checkout, apart from the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def compile_firmware(tmp_path: Path) -> Compile:
    """Return a function that compiles a program's text, behind the prelude, to an ELF file."""
    skip_without(*EMULATED_AVR)

    def compile_with(text: str, *flags: str) -> Path:
        return compile_text(PRELUDE + text, tmp_path / "firmware.elf", "-Os", *flags)

    return compile_with


class Link:
    """A client of the serial line that sees every byte; pyserial discards the first ones."""

    def __init__(self, uno: EmulatedUno) -> None:
        self.timeout = 20.0
        if uno.port:
            self._socket = socket.create_connection(("127.0.0.1", uno.port), timeout=self.timeout)
            self._fd = self._socket.detach()
        else:
            self._fd = os.open(uno.url, os.O_RDWR | os.O_NOCTTY)
            os.set_blocking(self._fd, False)

    def read(self, count: int) -> bytes:
        """Return `count` bytes, or fewer if the line is closed or silent for the timeout."""
        received = b""
        while len(received) < count and select.select([self._fd], [], [], self.timeout)[0]:
            chunk = os.read(self._fd, count - len(received))
            if not chunk:
                break
            received += chunk
        return received

    def write(self, content: bytes) -> None:
        while content:
            assert select.select([], [self._fd], [], self.timeout)[1]
            content = content[os.write(self._fd, content) :]

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


@pytest.fixture
def connect() -> Iterator[Callable[[EmulatedUno], Link]]:
    """Return a function that opens a board's line; all lines are closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda uno: stack.enter_context(contextlib.closing(Link(uno)))


@pytest.fixture(params=["tcp", "pty"])
def link_kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of link; what is said of the line holds for both."""
    return str(request.param)
