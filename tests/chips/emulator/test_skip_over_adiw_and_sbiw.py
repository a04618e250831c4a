"""A skip over ADIW or SBIW skips one word, which simavr 1.6 by itself takes for two.

It does so where the low nibble of K is 12 or more, because it takes the opcode for a JMP or CALL.
avr-gcc -Os emits this for the division of a signed number by 16, 32 or 64, so that a firmware
computed something else in the emulator than on the board.
"""

from __future__ import annotations

import socket

import pytest
from avr_programs import compile_text
from avr_tools import needs_emulated_avr

from protonn_edge.chips.emulator import EmulatedUno

pytestmark = needs_emulated_avr

CONSTANTS = range(64)
SKIPS = ("sbrc r18, 0", "sbrs r19, 0", "cpse r18, r1", "sbic 0x1f, 0", "sbis 0x1e, 0")
UNTOUCHED = 1000

UART = """
#include <avr/io.h>
#include <stdint.h>

static void uart_write16(uint16_t word) {
    for (uint8_t i = 0; i < 2; i++) {
        while (!(UCSR0A & 1 << UDRE0)) {
        }
        UDR0 = i ? word & 0xFF : word >> 8;
    }
}

static void uart_begin(void) {
    UBRR0L = 16;
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
    while (!(UCSR0A & 1 << RXC0)) {
    }
}
"""

# Bit 0 of GPIOR0 (0x1e) is 1 inside of the marked span, that of EECR (0x1f) is 0: all five skip.
SKIP_CASE = """
    __asm__ volatile(
        "ldi r24, lo8({untouched})\\n ldi r25, hi8({untouched})\\n"
        "ldi r18, 0\\n ldi r19, 1\\n"
        "out 0x1e, r19\\n {skip}\\n {operation} r24, {constant}\\n out 0x1e, r1\\n"
        "movw %0, r24\\n"
        : "=r"(result) :: "r18", "r19", "r24", "r25");
    uart_write16(result);
"""


@pytest.fixture
def compile_firmware(tmp_path):
    return lambda text: compile_text(UART + text, tmp_path / "firmware.elf", "-Os")


def words_from(uno, count):
    with socket.create_connection(("127.0.0.1", uno.port), timeout=20.0) as client:
        client.sendall(b"?")
        received = b""
        while len(received) < 2 * count:
            received += client.recv(4096)
    return [int.from_bytes(received[i : i + 2], "big", signed=True) for i in range(0, 2 * count, 2)]


def skipping(skip, operation):
    """Return a program that skips over an operation with each constant, and sends what is left."""
    cases = "".join(
        SKIP_CASE.format(untouched=UNTOUCHED, skip=skip, operation=operation, constant=constant)
        for constant in CONSTANTS
    )
    return f"int main(void) {{ uint16_t result; uart_begin(); {cases} for (;;); }}"


@pytest.mark.parametrize("operation", ["adiw", "sbiw"])
@pytest.mark.parametrize("skip", SKIPS)
def test_a_skip_over_a_word_operation_skips_it_alone(compile_firmware, skip, operation):
    with EmulatedUno(compile_firmware(skipping(skip, operation))) as uno:
        assert words_from(uno, len(CONSTANTS)) == [UNTOUCHED] * len(CONSTANTS)
        stats = uno.stats()
    # The OUT that ends a span is not skipped, and a skip over one word takes 2 cycles.
    assert stats.marked_spans == len(CONSTANTS)
    assert stats.marked_cycles == len(CONSTANTS) * (1 + 2)


def test_simavr_alone_gets_it_wrong(compile_firmware, monkeypatch):
    monkeypatch.setattr(EmulatedUno, "_debug_options", ("--no-skip-fix",))
    with EmulatedUno(compile_firmware(skipping(SKIPS[0], "adiw"))) as uno:
        words_from(uno, len(CONSTANTS))  # all are sent, but some spans do not end where they do
        spans = uno.stats().marked_spans
    assert spans < len(CONSTANTS), "simavr has mended its fault; the fix has served its time"
