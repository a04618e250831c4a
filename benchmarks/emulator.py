"""Measure the speed of the emulated Uno, and its pace at wire speed, by echoing many bytes.

python benchmarks/emulator.py
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Literal

import click
import serial

from protonn_edge.emulator import EmulatedUno

_ECHO = """
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

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
    UBRR0L = 16;
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0 | 1 << RXCIE0;
    set_sleep_mode(SLEEP_MODE_IDLE);
    sei();
    for (;;) {
        sleep_mode();
    }
}
"""
_WIRE_US = 10 * 8 * 17 / 16  # a byte at UBRR 16: 117,647 baud, as near to 115,200 as an Uno gets


def measure(
    elf: Path, link: Literal["tcp", "pty"], wire_speed: bool, count: int, lines: list[str]
) -> None:
    """Add a line of figures for one board."""
    with (
        EmulatedUno(elf, link=link, wire_speed=wire_speed) as uno,
        serial.serial_for_url(uno.url, baudrate=115200, timeout=60) as line,
    ):
        line.write(b"x")
        line.read(1)
        text = bytes(range(256)) * (count // 256)
        began, before = time.monotonic(), uno.stats().cycles
        writer = threading.Thread(target=line.write, args=(text,))
        writer.start()
        is_whole = line.read(len(text)) == text
        wall_s = time.monotonic() - began
        stats = uno.stats()
        writer.join()
        assert uno._process is not None
        times = Path(f"/proc/{uno._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        cpu_s = (int(times[11]) + int(times[12])) / 100
    pace = (stats.cycles - before) / 16e6 / wall_s
    lines.append(
        f"{link}, {'wire speed' if wire_speed else 'free-running'}: "
        f"{1e6 * wall_s / count:.2f} us a byte (on the wire {_WIRE_US:.2f}), emulated time "
        f"{pace:.4f} of the wall clock's, {100 * cpu_s / wall_s:.0f} % of a core, "
        f"{'whole' if is_whole else 'NOT WHOLE'}, {stats.overruns} overruns"
    )


@click.command()
@click.option("--bytes", "count", default=60_000, show_default=True, help="To echo.")
def main(count: int) -> None:
    """Print a line for each board: one alone, then two at a time."""
    with tempfile.TemporaryDirectory() as scratch:
        source, elf = Path(scratch, "echo.c"), Path(scratch, "echo.elf")
        source.write_text(_ECHO)
        command = ["avr-gcc", "-mmcu=atmega328p", "-Os", "-o", str(elf), str(source)]
        subprocess.run(command, check=True, timeout=60)
        links: tuple[Literal["tcp", "pty"], ...] = ("tcp", "pty")
        for boards in (1, 2):
            for link in links:
                for wire_speed in (True, False):
                    lines: list[str] = []
                    arguments = (elf, link, wire_speed, count // 256 * 256, lines)
                    threads = [
                        threading.Thread(target=measure, args=arguments) for _ in range(boards)
                    ]
                    for thread in threads:
                        thread.start()
                    for thread in threads:
                        thread.join()
                    for line in lines:
                        click.echo(f"{boards} at a time, {line}")


if __name__ == "__main__":
    main()
