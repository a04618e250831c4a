"""Recordings are played into the emulated board's inputs, sample by sample, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protonn_edge.emulator import EmulatedUno, EmulatorError
from protonn_edge.sensors import MPU6050, PlayedSensor, sensor_kind
from protonn_edge.sensors.kinds import ADXL345

Compile = Callable[..., Path]
Connect = Callable[[EmulatedUno], Any]

# Every 10 ms of Timer1, `sample` is called.
EVERY_10_MS = """
int main(void) {
    uart_begin();
    begin();
    TCCR1B = 1 << WGM12 | 1 << CS11;
    OCR1A = 20000 - 1;
    for (;;) {
        sample();
        while (!(TIFR1 & 1 << OCF1A)) {
        }
        TIFR1 = 1 << OCF1A;
    }
}
"""

TWI = """
static void twi_do(uint8_t control) {
    TWCR = control | 1 << TWINT | 1 << TWEN;
    while (!(TWCR & 1 << TWINT)) {
    }
}
static uint8_t twi_to(uint8_t address) {
    twi_do(1 << TWSTA);
    TWDR = address;
    twi_do(0);
    return TWSR & 0xF8;
}
static void twi_byte(uint8_t byte) {
    TWDR = byte;
    twi_do(0);
}
static void twi_stop(void) {
    TWCR = 1 << TWINT | 1 << TWEN | 1 << TWSTO;
}
static void set(uint8_t address, uint8_t place, uint8_t value) {
    twi_to(address << 1);
    twi_byte(place);
    twi_byte(value);
    twi_stop();
}
static void send(uint8_t address, uint8_t place, uint8_t count) {
    twi_to(address << 1);
    twi_byte(place);
    twi_to(address << 1 | 1);
    while (count--) {
        twi_do(count ? 1 << TWEA : 0);
        uart_write(TWDR);
    }
    twi_stop();
}
"""


def noise(channels: int, low: int = -32768, high: int = 32767) -> np.ndarray:
    values = np.random.default_rng(0).integers(low, high + 1, (50, channels)).astype(np.int16)
    values[0], values[1] = low, high
    return values


def test_an_mpu6050_gives_its_samples_in_one_burst(
    compile_firmware: Compile, connect: Connect
) -> None:
    elf = compile_firmware(
        TWI
        + "static void begin(void) { set(0x68, 0x6B, 0); }\n"
        + "static void sample(void) { send(0x68, 0x3B, 14); }\n"
        + EVERY_10_MS
    )
    values = noise(6)
    with EmulatedUno(elf, sensors=[PlayedSensor(MPU6050, values, 100.0)]) as uno:
        bursts = np.frombuffer(connect(uno).read(14 * 120), ">i2").reshape(-1, 7)
        assert uno.stats().faults == ()
    assert np.array_equal(bursts[:, 3], np.zeros(120))  # the temperature
    # From its first sample on, and again when it is at its end.
    assert np.array_equal(bursts[:, [0, 1, 2, 4, 5, 6]], np.concatenate([values] * 3)[:120])


def test_an_mpu6050_has_the_registers_that_drivers_look_at(
    compile_firmware: Compile, connect: Connect
) -> None:
    elf = compile_firmware(
        TWI
        + """
int main(void) {
    uart_begin();
    send(0x68, 0x75, 1);
    send(0x68, 0x6B, 1);
    send(0x68, 0x3B, 2);
    set(0x68, 0x1B, 0x08);
    set(0x68, 0x75, 1);
    send(0x68, 0x1B, 1);
    send(0x68, 0x75, 1);
    set(0x68, 0x6B, 0x80);
    send(0x68, 0x1B, 1);
    uart_write(twi_to(0x69 << 1));
    idle_for_ever();
}
"""
    )
    with EmulatedUno(elf, sensors=[PlayedSensor(MPU6050, noise(6), 100.0)]) as uno:
        # Its identity, asleep, no data yet, a register that keeps and one that does not, a reset,
        # and nobody at another address.
        assert connect(uno).read(8) == bytes([0x68, 0x40, 0, 0, 0x08, 0x68, 0x00, 0x20])


def test_an_adxl345_is_little_endian_and_measures_when_told(
    compile_firmware: Compile, connect: Connect
) -> None:
    elf = compile_firmware(
        TWI
        + "static void begin(void) { send(0x53, 0, 1); set(0x53, 0x2D, 8); }\n"
        + "static void sample(void) { send(0x53, 0x32, 6); }\n"
        + EVERY_10_MS
    )
    values = noise(3)
    with EmulatedUno(elf, sensors=[PlayedSensor(ADXL345, values, 100.0)]) as uno:
        line = connect(uno)
        assert line.read(1) == b"\xe5"
        assert np.array_equal(np.frombuffer(line.read(6 * 40), "<i2").reshape(-1, 3), values[:40])


def test_analog_inputs_convert_every_count_exactly(
    compile_firmware: Compile, connect: Connect
) -> None:
    elf = compile_firmware(
        """
static void begin(void) { ADCSRA = 1 << ADEN | 7; }
static uint16_t convert(uint8_t pin) {
    ADMUX = 1 << REFS0 | pin;
    ADCSRA |= 1 << ADSC;
    while (ADCSRA & 1 << ADSC) {
    }
    return ADC;
}
static void sample(void) { uart_write16(convert(2)); uart_write16(convert(3)); }
"""
        + EVERY_10_MS
    )
    counts = np.arange(1024, dtype=np.int16)
    values = np.stack([counts, counts[::-1]], axis=1)
    with EmulatedUno(elf, sensors=[PlayedSensor(sensor_kind("a2"), values, 100.0)]) as uno:
        line = connect(uno)
        assert np.array_equal(np.frombuffer(line.read(4 * 1024), ">u2").reshape(-1, 2), values)


@pytest.mark.parametrize("content", [b"", b"PNNSENS1\x01\0\0\0", b"PNNSENS2\0\0\0\0"])
def test_a_damaged_file_of_sensors_ends_the_emulator(
    compile_firmware: Compile, content: bytes
) -> None:
    elf = compile_firmware("int main(void) { idle_for_ever(); }")
    uno = EmulatedUno(elf, sensors=[PlayedSensor(MPU6050, noise(6), 100.0)])
    place = uno._options.index("--sensor-bytes") + 1
    uno._sensors = content + b"\xff" * 11
    uno._options[place] = str(len(uno._sensors))
    with pytest.raises(EmulatorError, match="the file of the sensors is damaged"):
        uno.__enter__()
