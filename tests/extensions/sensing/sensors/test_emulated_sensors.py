"""Recordings are played into the emulated board's inputs, sample by sample, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.chips.emulator import EmulatedUno, EmulatorError
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor

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
    with EmulatedUno(elf, sensors=[PlayedSensor(sensor_kind("mpu6050"), values, 100.0)]) as uno:
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
    with EmulatedUno(elf, sensors=[PlayedSensor(sensor_kind("mpu6050"), noise(6), 100.0)]) as uno:
        # Its identity, asleep, no data yet, a register that keeps and one that does not, a reset,
        # and nobody at another address.
        assert connect(uno).read(8) == bytes([0x68, 0x40, 0, 0, 0x08, 0x68, 0x00, 0x20])


def moved(values: np.ndarray) -> np.ndarray:
    """Return the bytes of rotation, then acceleration, as inertial sensors hold them."""
    return np.ascontiguousarray(values[:, [3, 4, 5, 0, 1, 2]]).astype("<i2").view(np.uint8)


def little_endian(values: np.ndarray) -> np.ndarray:
    return values.astype("<i2").view(np.uint8)


def of_a_bme280(values: np.ndarray) -> np.ndarray:
    """Return the bytes of 20 bits each of pressure and temperature, then 16 bits of humidity."""
    rows = []
    for pressure, temperature, humidity in values.tolist():
        bits = f"{pressure:015b}00000" + "0000" + f"{temperature:015b}00000" + "0000"
        bits += f"{humidity:015b}0"
        rows.append([int(bits[at : at + 8], 2) for at in range(0, 64, 8)])
    return np.array(rows, np.uint8)


def of_a_max30102(values: np.ndarray) -> np.ndarray:
    """Return the bytes of 18 bits each of both lights, behind 6 bits of nothing."""
    bits = ["".join(f"000000{each:015b}000" for each in row) for row in values.tolist()]
    places = range(0, 48, 8)
    return np.array([[int(row[at : at + 8], 2) for at in places] for row in bits], np.uint8)


# A map of each chip, written by hand from its data sheet: its address, its identity and where that
# is, how it is woken, where its data begin, and how they hold values.
CHIPS = {
    "adxl345": (0x53, 0x00, 0xE5, (0x2D, 0x08), 0x32, little_endian),
    "lsm6ds3": (0x6A, 0x0F, 0x69, (0x10, 0x40), 0x22, moved),
    "bmi160": (0x68, 0x00, 0xD1, (0x7E, 0x11), 0x0C, moved),
    "bme280": (0x76, 0xD0, 0x60, (0xF4, 0x27), 0xF7, of_a_bme280),
    "max30102": (0x57, 0xFF, 0x15, (0x09, 0x03), 0x07, of_a_max30102),
}


def test_chips_answer_as_their_data_sheets_have_it(
    compile_firmware: Compile, connect: Connect
) -> None:
    sensors = []
    for name in CHIPS:
        kind = sensor_kind(name)
        sensors.append(PlayedSensor(kind, noise(len(kind.channels), kind.low, kind.high), 100.0))
    begin = sample = ""
    expected, ids = [], b""
    for (address, id_at, identity, (wake_at, wake), data, held), played in zip(
        CHIPS.values(), sensors, strict=True
    ):
        expected.append(held(played.values))
        count = expected[-1].shape[1]
        begin += f"send({address}, {id_at}, 1); set({address}, {wake_at}, {wake});"
        sample += f"send({address}, {data}, {count});"
        ids += bytes([identity])
    elf = compile_firmware(
        f"{TWI} static void begin(void) {{ {begin} }} static void sample(void) {{ {sample} }}"
        + EVERY_10_MS
    )
    whole = np.concatenate(expected, axis=1)
    with EmulatedUno(elf, sensors=sensors) as uno:
        line = connect(uno)
        assert line.read(len(ids)) == ids
        found = np.frombuffer(line.read(whole[:40].size), np.uint8)
        assert uno.stats().faults == ()
    assert np.array_equal(found.reshape(40, -1), whole[:40])


SPI = """
static uint8_t spi_byte(uint8_t byte) {
    SPDR = byte;
    while (!(SPSR & 1 << SPIF)) {
    }
    return SPDR;
}
static void set(uint8_t place, uint8_t value) {
    PORTB &= ~(1 << 2);
    spi_byte(place);
    spi_byte(value);
    PORTB |= 1 << 2;
}
static void send(uint8_t place, uint8_t count) {
    PORTB &= ~(1 << 2);
    spi_byte(place);
    while (count--) {
        uart_write(spi_byte(0));
    }
    PORTB |= 1 << 2;
}
static void begin(void) {
    PORTB |= 1 << 2;
    DDRB |= 1 << 2 | 1 << 3 | 1 << 5;
    SPCR = 1 << SPE | 1 << MSTR | 1 << CPOL | 1 << CPHA;
    send(0x8F, 1); /* WHO_AM_I */
    set(0x20, 0x57);
    send(0xA0, 1);
}
static void sample(void) { send(0xE8, 6); }
"""


def test_a_chip_on_spi_is_read_by_the_upper_bits_of_an_address(
    compile_firmware: Compile, connect: Connect, tmp_path: Path
) -> None:
    path = tmp_path / "lis3dh.toml"
    path.write_text(
        'title = "LIS3DH"\nbus = "spi"\nread_bits = 0xC0\nid_register = 0x0F\nids = [0x33]\n'
        'data_register = 0x28\ndata_bytes = 6\nbyte_order = "little"\nchannels = ["x", "y", "z"]\n'
        'units = "1/1000 g"\nplaces = [0, 2, 4]\nword = { shift = 4 }\nsleeps = [0x20, 0xF0, 0]\n'
    )
    values = noise(3, -2048, 2047)
    played = PlayedSensor(sensor_kind(str(path)), values, 100.0)
    with EmulatedUno(compile_firmware(SPI + EVERY_10_MS), sensors=[played]) as uno:
        line = connect(uno)
        assert line.read(2) == bytes([0x33, 0x57])
        found = np.frombuffer(line.read(6 * 40), "<i2").reshape(-1, 3)
        assert uno.stats().faults == ()
    assert np.array_equal(found, 16 * values[:40])


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
        + EVERY_10_MS.replace("20000", "2000")
    )
    counts = np.arange(1024, dtype=np.int16)
    values = np.stack([counts, counts[::-1]], axis=1)
    with EmulatedUno(elf, sensors=[PlayedSensor(sensor_kind("a2"), values, 1000.0)]) as uno:
        line = connect(uno)
        assert np.array_equal(np.frombuffer(line.read(4 * 1024), ">u2").reshape(-1, 2), values)


@pytest.mark.parametrize("content", [b"", b"PNNSENS2\x01\0\0\0", b"PNNSENS1\0\0\0\0"])
def test_a_damaged_file_of_sensors_ends_the_emulator(
    compile_firmware: Compile, content: bytes
) -> None:
    elf = compile_firmware("int main(void) { idle_for_ever(); }")
    uno = EmulatedUno(elf, sensors=[PlayedSensor(sensor_kind("mpu6050"), noise(6), 100.0)])
    place = uno._options.index("--parts-bytes") + 1
    uno._sensors = content + b"\xff" * 11
    uno._options[place] = str(len(uno._sensors))
    with refused_by("chips.emulator.board", kind=EmulatorError):
        uno.__enter__()
