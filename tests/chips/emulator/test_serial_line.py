"""The serial line of the emulated Uno behaves as the chip's does, at wire speed."""

from __future__ import annotations

import random

import pytest
from chips.emulator.conftest import hex_file

from protonn_edge.chips.emulator import EmulatedUno

ECHO = """
int main(void) {
    uart_begin();
    for (;;) {
        uart_write(uart_read());
    }
}
"""

ECHO_BY_INTERRUPTS = """
static volatile uint8_t ring[64], head, tail;

ISR(USART_RX_vect) {
    ring[head++ % 64] = UDR0;
    UCSR0B |= 1 << UDRIE0;
}

ISR(USART_UDRE_vect) {
    if (tail == head) {
        UCSR0B &= ~(1 << UDRIE0);
    } else {
        UDR0 = ring[tail++ % 64];
    }
}

int main(void) {
    uart_begin();
    UCSR0B |= 1 << RXCIE0;
    idle_for_ever();
}
"""


@pytest.mark.parametrize(
    ("firmware", "ubrr"),
    [
        pytest.param(ECHO, 0, id="polling-2000000"),
        pytest.param(ECHO, 16, id="polling-115200"),
        pytest.param(ECHO_BY_INTERRUPTS, 16, id="interrupts-115200"),
        pytest.param(ECHO_BY_INTERRUPTS, 207, id="interrupts-9600"),
    ],
)
def test_an_echo_loses_nothing(compile_firmware, connect, link_kind, firmware, ubrr):
    text = random.Random(ubrr).randbytes(8192)
    with EmulatedUno(compile_firmware(firmware, f"-DUBRR={ubrr}"), link=link_kind) as uno:
        link = connect(uno)
        for start in range(0, len(text), 1024):
            link.write(text[start : start + 1024])
            assert link.read(1024) == text[start : start + 1024]
        stats = uno.stats()
    assert stats.overruns == 0
    assert stats.faults == ()


@pytest.mark.parametrize("wire_speed", [False, True], ids=["free", "wire-speed"])
def test_single_bytes_are_answered_one_by_one(compile_firmware, connect, link_kind, wire_speed):
    firmware = compile_firmware(ECHO_BY_INTERRUPTS)
    with EmulatedUno(firmware, link=link_kind, wire_speed=wire_speed) as uno:
        link = connect(uno)
        for value in range(100):
            link.write(bytes([value]))
            assert link.read(1) == bytes([value])


def test_what_the_chip_cannot_hold_is_lost_flagged_and_counted(compile_firmware, connect):
    firmware = """
        int main(void) {
            uart_begin();
            while (!(UCSR0A & 1 << RXC0)) {
            }
            for (uint16_t bits = 0; bits < 200; bits++) {
                __builtin_avr_delay_cycles(136);
            }
            while (UCSR0A & 1 << RXC0) {
                uint8_t status = UCSR0A, byte = UDR0;
                uart_write(status & 1 << DOR0 ? '!' : ' ');
                uart_write(byte);
            }
            idle_for_ever();
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        link = connect(uno)
        link.write(b"abcdefgh")
        # Two buffer registers hold the oldest, the shift register the newest.
        assert link.read(6) == b"!a b h"
        assert uno.stats().overruns == 5


SENDS_ONE = """
    TCCR1B = 1 << CS10;
    uart_write('x');
    uint16_t began = TCNT1;
    while (!(UCSR0A & 1 << TXC0)) {
    }
    uart_write16(TCNT1 - began);
"""
TIMES = {
    "a received byte has ten bits": (
        """
        TCCR1B = 1 << CS10;
        uart_begin();
        uint16_t arrival[4];
        for (uint8_t i = 0; i < 4; i++) {
            while (!(UCSR0A & 1 << RXC0)) {
            }
            arrival[i] = TCNT1;
            (void)UDR0;
        }
        uart_write16(arrival[3] - arrival[0]);
        """,
        0,
        [3 * 10 * 8 * 17],
        8,  # of the loop that polls
    ),
    "the transmitter has a buffer beside its shift register": (
        """
        TCCR1B = 1 << CS10;
        uart_begin();
        uint16_t written[3];
        for (uint8_t i = 0; i < 3; i++) {
            uart_write('x');
            written[i] = TCNT1;
        }
        uart_write16(written[1] - written[0]);
        uart_write16(written[2] - written[1]);
        """,
        3,
        [0, 10 * 8 * 17],
        50,
    ),
    "settings come in any order": (
        f"""
        UCSR0B = 1 << RXEN0 | 1 << TXEN0;
        UBRR0L = 103;
        UCSR0A = 1 << U2X0;  /* doubles the rate although UBRR0L was written before */
        {SENDS_ONE}
        """,
        1,
        [10 * 8 * 104],
        50,
    ),
    **{
        name: (
            f"uart_begin(); UCSR0C = 3 << UCSZ00 | ({setting}); {SENDS_ONE}",
            1,
            [bits * 8 * 17],
            50,
        )
        for name, setting, bits in (
            ("8N1", "0", 10),
            ("8E1", "1 << UPM01", 11),
            ("8N2", "1 << USBS0", 11),
            ("8E2", "1 << UPM01 | 1 << USBS0", 12),
        )
    },
}
"""A program, how many bytes it sends before its figures, and the cycles of these, about."""


@pytest.mark.parametrize("name", TIMES)
def test_bytes_take_the_time_of_their_bits(compile_firmware, connect, name):
    program, before, cycles, within = TIMES[name]
    firmware = f"int main(void) {{ {program} idle_for_ever(); }}"
    with EmulatedUno(compile_firmware(firmware)) as uno:
        link = connect(uno)
        link.write(b"four")
        answer = link.read(before + 2 * len(cycles))[before:]
    taken = [int.from_bytes(answer[i : i + 2], "big") for i in range(0, len(answer), 2)]
    assert taken == pytest.approx(cycles, abs=within)


def test_transmit_complete_raises_its_interrupt_once_a_burst(compile_firmware, connect):
    firmware = """
        static volatile uint8_t bursts;

        ISR(USART_TX_vect) {
            if (++bursts < 3) {
                UDR0 = '0' + bursts;
                UDR0 = '.';
            }
        }

        int main(void) {
            uart_begin();
            UCSR0B |= 1 << TXCIE0;
            UDR0 = '0';
            idle_for_ever();
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        link = connect(uno)
        assert link.read(5) == b"01.2."
        link.timeout = 0.2
        assert link.read(1) == b""


def test_a_hex_file_runs_too(compile_firmware, connect):
    with EmulatedUno(hex_file(compile_firmware(ECHO))) as uno:
        link = connect(uno)
        link.write(b"hex")
        assert link.read(3) == b"hex"
